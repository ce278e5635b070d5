// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The maximum that is subtracted has no derivative.
func.func private @f(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>)
      -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: arith.maxnumf
// CHECK: %[[SHIFT:.*]] = grad.stop_gradient %[[MAX]]
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SHIFT]] :
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[EXP]] :
// CHECK-NOT: ins(%[[X]]
// CHECK: return
func.func @vjp(%x: tensor<4x3xf32>, %ct: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[SHIFT:.*]] = grad.stop_gradient
// CHECK: %[[TEXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SHIFT]], %[[TX]] :
// CHECK: %[[TSUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[TEXP]] :
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}%[[TEXP]], %[[TSUM]] :
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

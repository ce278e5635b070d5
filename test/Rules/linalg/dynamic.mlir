// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// Sizes come from the values themselves.
func.func private @f(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>, %i: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x4xf32>)
      outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = math.tanh %r : tensor<?x4xf32>
  return %e : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>, %[[W:[^:]+]]: tensor<?x4xf32>, %{{[^:]+}}: tensor<?x4xf32>, %[[CT:[^:]+]]: tensor<?x4xf32>
// CHECK: %[[TANH:.*]] = math.tanh
// CHECK: %[[N:.*]] = tensor.dim %[[TANH]], %{{.*}}
// CHECK: %[[E:.*]] = tensor.empty(%[[N]])
// CHECK: %[[ONE:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK: %[[SLOPE:.*]] = arith.subf %[[ONE]],
// CHECK: %[[C:.*]] = arith.mulf %[[CT]], %[[SLOPE]]
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[K:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: tensor.empty(%[[M]], %[[K]])
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[C]] :
// CHECK: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[C]] :
// CHECK: return %[[DX]], %[[DW]]
func.func @vjp(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>, %i: tensor<?x4xf32>, %ct: tensor<?x4xf32>) -> (tensor<?x?xf32>, tensor<?x4xf32>) {
  %r, %dx, %dw = grad.vjp @f(%x, %w, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>)
  return %dx, %dw : tensor<?x?xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>, %[[W:[^:]+]]: tensor<?x4xf32>, %{{[^:]+}}: tensor<?x4xf32>, %[[TX:[^:]+]]: tensor<?x?xf32>, %[[TW:[^:]+]]: tensor<?x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[W]], %[[TX]], %[[TW]] :
// CHECK: math.tanh
// CHECK: arith.subf
// CHECK: %[[DR:.*]] = arith.mulf
// CHECK-NEXT: return %[[DR]]
func.func @jvp(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>, %i: tensor<?x4xf32>, %tx: tensor<?x?xf32>, %tw: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r, %dr = grad.jvp @f(%x, %w, %i) tangents(%tx, %tw) wrt [0, 1]
      : (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %dr : tensor<?x4xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// A loop nest without operands: what it captures gets the sum, what it reads a
// scatter.
func.func private @f(%x: tensor<3xf32>, %s: f32) -> tensor<4x3xf32> {
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j] : tensor<3xf32>
    %b = arith.mulf %a, %s : f32
    tensor.yield %b : f32
  } : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<3xf32>, %[[S:[^:]+]]: f32, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} ins(%[[CT]] :
// CHECK: tensor.extract %[[X]]
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: %[[DX:.*]] = grad.scatter_add bounds [4, 3] ins(%[[CT]] :
// CHECK-NEXT: ^bb0(%[[C:[^:]+]]: f32):
// CHECK-NEXT: %[[J:.*]] = grad.loop_index 1
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[C]], %[[S]]
// CHECK-NEXT: grad.yield %[[J]], %[[T]]
// CHECK: return %[[DX]], %[[DS]]
func.func @vjp(%x: tensor<3xf32>, %s: f32, %ct: tensor<4x3xf32>) -> (tensor<3xf32>, f32) {
  %r, %dx, %ds = grad.vjp @f(%x, %s) cotangents(%ct) wrt [0, 1]
      : (tensor<3xf32>, f32, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, f32)
  return %dx, %ds : tensor<3xf32>, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<3xf32>, %[[S:[^:]+]]: f32, %[[TX:[^:]+]]: tensor<3xf32>, %[[TS:[^:]+]]: f32
// CHECK: %[[DR:.*]] = linalg.generic
// CHECK: %[[A:.*]] = tensor.extract %[[X]]
// CHECK: %[[TA:.*]] = tensor.extract %[[TX]]
// CHECK: arith.mulf %[[TA]], %[[S]]
// CHECK: arith.mulf %[[TS]], %[[A]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<3xf32>, %s: f32, %tx: tensor<3xf32>, %ts: f32) -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x, %s) tangents(%tx, %ts) wrt [0, 1]
      : (tensor<3xf32>, f32, tensor<3xf32>, f32) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// A change of type without effect on the gradient.
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = grad.promote %x : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  %s = math.sin %p : tensor<4xf32, #grad.requires_grad>
  %r = tensor.cast %s : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[COS]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[DR:.*]] = arith.mulf %[[TX]], %[[COS]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

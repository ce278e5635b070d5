// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// A cast changes only what is known of the type, and is undone by a cast.
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = tensor.cast %x : tensor<4xf32> to tensor<4xf32, #grad.requires_grad>
  %r = tensor.cast %m : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: return %[[CT]]
func.func @vjp(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: return %[[TX]]
func.func @jvp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

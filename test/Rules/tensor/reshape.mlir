// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes a reshape of the cotangent to the shape of the source.
func.func private @f(%x: tensor<2x3xf32>, %shape: tensor<1xindex>)
    -> tensor<6xf32> {
  %r = tensor.reshape %x(%shape)
      : (tensor<2x3xf32>, tensor<1xindex>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<1xindex>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<6xf32>
// CHECK: %[[TO:.*]] = arith.constant dense<[2, 3]> : tensor<2xindex>
// CHECK: %[[DX:.*]] = tensor.reshape %[[CT]](%[[TO]])
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<2x3xf32>, %shape: tensor<1xindex>, %ct: tensor<6xf32>)
    -> tensor<2x3xf32> {
  %r, %dx = grad.vjp @f(%x, %shape) cotangents(%ct) wrt [0]
      : (tensor<2x3xf32>, tensor<1xindex>, tensor<6xf32>)
      -> (tensor<6xf32>, tensor<2x3xf32>)
  return %dx : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %[[SHAPE:[^:]+]]: tensor<1xindex>,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<2x3xf32>
// CHECK: %[[DR:.*]] = tensor.reshape %[[TX]](%[[SHAPE]])
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x3xf32>, %shape: tensor<1xindex>,
               %tx: tensor<2x3xf32>)
    -> tensor<6xf32> {
  %r, %dr = grad.jvp @f(%x, %shape) tangents(%tx) wrt [0]
      : (tensor<2x3xf32>, tensor<1xindex>, tensor<2x3xf32>)
      -> (tensor<6xf32>, tensor<6xf32>)
  return %dr : tensor<6xf32>
}

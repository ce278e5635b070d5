// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes a collapse_shape of the cotangent.
func.func private @f(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [2, 3]
      : tensor<6xf32> into tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<6xf32>, %[[CT:[^:]+]]: tensor<2x3xf32>
// CHECK: %[[DX:.*]] = tensor.collapse_shape %[[CT]] {{\[\[}}0, 1]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<6xf32>, %ct: tensor<2x3xf32>) -> tensor<6xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<6xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<6xf32>, %[[TX:[^:]+]]: tensor<6xf32>
// CHECK: %[[DR:.*]] = tensor.expand_shape %[[TX]] {{\[\[}}0, 1]] output_shape [2, 3]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<6xf32>, %tx: tensor<6xf32>) -> tensor<2x3xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<6xf32>, tensor<6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %dr : tensor<2x3xf32>
}

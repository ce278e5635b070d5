// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes an expand_shape of the cotangent.
func.func private @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %[[CT:[^:]+]]: tensor<6xf32>
// CHECK: %[[DX:.*]] = tensor.expand_shape %[[CT]] {{\[\[}}0, 1]] output_shape [2, 3]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<2x3xf32>, %ct: tensor<6xf32>) -> tensor<2x3xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<2x3xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>)
  return %dx : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %[[TX:[^:]+]]: tensor<2x3xf32>
// CHECK: %[[DR:.*]] = tensor.collapse_shape %[[TX]] {{\[\[}}0, 1]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x3xf32>, %tx: tensor<2x3xf32>) -> tensor<6xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %dr : tensor<6xf32>
}

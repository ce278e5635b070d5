// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes one extract_slice an operand.
func.func private @f(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>)
    -> tensor<2x4xf32> {
  %r = tensor.concat dim(1) %x, %y
      : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<2x1xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<2x4xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][0, 0] [2, 3] [1, 1]
// CHECK: %[[DY:.*]] = tensor.extract_slice %[[CT]][0, 3] [2, 1] [1, 1]
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %ct: tensor<2x4xf32>)
    -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x1xf32>)
  return %dx, %dy : tensor<2x3xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<2x1xf32>,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<2x3xf32>, %[[TY:[^:]+]]: tensor<2x1xf32>
// CHECK: %[[DR:.*]] = tensor.concat dim(1) %[[TX]], %[[TY]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>, %tx: tensor<2x3xf32>,
               %ty: tensor<2x1xf32>)
    -> tensor<2x4xf32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>, tensor<2x1xf32>)
      -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return %dr : tensor<2x4xf32>
}

// Nothing is extracted for a constant operand.
// CHECK-LABEL: func.func @vjp_second(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<2x1xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT: %[[DY:.*]] = tensor.extract_slice %[[CT]][0, 3] [2, 1] [1, 1]
// CHECK-NEXT: return %[[DY]]
func.func @vjp_second(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>,
                      %ct: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %r, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [1]
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x1xf32>)
  return %dy : tensor<2x1xf32>
}

// Sizes that only casts hide come out static again.
func.func private @hidden(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>)
    -> tensor<2x4xf32> {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<2x?xf32>
  %v = tensor.cast %y : tensor<2x1xf32> to tensor<2x?xf32>
  %r = tensor.concat dim(1) %u, %v
      : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @vjp_hidden(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<2x1xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<2x4xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][0, 0] [2, 3] [1, 1]
// CHECK: %[[DY:.*]] = tensor.extract_slice %[[CT]][0, 3] [2, 1] [1, 1]
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp_hidden(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>,
                      %ct: tensor<2x4xf32>)
    -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %r, %dx, %dy = grad.vjp @hidden(%x, %y) cotangents(%ct) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x1xf32>)
  return %dx, %dy : tensor<2x3xf32>, tensor<2x1xf32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes an extract_slice for the source and a hole for the destination.
func.func private @f(%x: tensor<2xf32>, %d: tensor<6xf32>) -> tensor<6xf32> {
  %r = tensor.insert_slice %x into %d[1] [2] [2]
      : tensor<2xf32> into tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %{{[^:]+}}: tensor<6xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<6xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][1] [2] [2]
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DD:.*]] = tensor.insert_slice %[[ZEROS]] into %[[CT]][1] [2] [2]
// CHECK: return %[[DX]], %[[DD]]
func.func @vjp(%x: tensor<2xf32>, %d: tensor<6xf32>, %ct: tensor<6xf32>)
    -> (tensor<2xf32>, tensor<6xf32>) {
  %r, %dx, %dd = grad.vjp @f(%x, %d) cotangents(%ct) wrt [0, 1]
      : (tensor<2xf32>, tensor<6xf32>, tensor<6xf32>)
      -> (tensor<6xf32>, tensor<2xf32>, tensor<6xf32>)
  return %dx, %dd : tensor<2xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %{{[^:]+}}: tensor<6xf32>,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<2xf32>, %[[TD:[^:]+]]: tensor<6xf32>
// CHECK: %[[DR:.*]] = tensor.insert_slice %[[TX]] into %[[TD]][1] [2] [2]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2xf32>, %d: tensor<6xf32>, %tx: tensor<2xf32>,
               %td: tensor<6xf32>)
    -> tensor<6xf32> {
  %r, %dr = grad.jvp @f(%x, %d) tangents(%tx, %td) wrt [0, 1]
      : (tensor<2xf32>, tensor<6xf32>, tensor<2xf32>, tensor<6xf32>)
      -> (tensor<6xf32>, tensor<6xf32>)
  return %dr : tensor<6xf32>
}

// A source of lower rank is extracted at its own rank.
func.func private @row(%x: tensor<6xf32>, %d: tensor<4x6xf32>)
    -> tensor<4x6xf32> {
  %r = tensor.insert_slice %x into %d[2, 0] [1, 6] [1, 1]
      : tensor<6xf32> into tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @vjp_row(
// CHECK-SAME: %{{[^:]+}}: tensor<6xf32>, %{{[^:]+}}: tensor<4x6xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4x6xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][2, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
// CHECK: return %[[DX]]
func.func @vjp_row(%x: tensor<6xf32>, %d: tensor<4x6xf32>,
                   %ct: tensor<4x6xf32>) -> tensor<6xf32> {
  %r, %dx = grad.vjp @row(%x, %d) cotangents(%ct) wrt [0]
      : (tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      -> (tensor<4x6xf32>, tensor<6xf32>)
  return %dx : tensor<6xf32>
}

// A constant destination has the tangent zero.
// CHECK-LABEL: func.func @jvp_source(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %{{[^:]+}}: tensor<6xf32>,
// CHECK-SAME: %[[T:[^:]+]]: tensor<2xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DR:.*]] = tensor.insert_slice %[[T]] into %[[ZEROS]][1] [2] [2]
// CHECK: return %[[DR]]
func.func @jvp_source(%x: tensor<2xf32>, %d: tensor<6xf32>, %t: tensor<2xf32>)
    -> tensor<6xf32> {
  %r, %dr = grad.jvp @f(%x, %d) tangents(%t) wrt [0]
      : (tensor<2xf32>, tensor<6xf32>, tensor<2xf32>)
      -> (tensor<6xf32>, tensor<6xf32>)
  return %dr : tensor<6xf32>
}

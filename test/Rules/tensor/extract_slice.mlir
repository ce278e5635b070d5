// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes an insert_slice into zeros.
func.func private @f(%x: tensor<4x6xf32>, %i: index) -> tensor<2x3xf32> {
  %r = tensor.extract_slice %x[%i, 0] [2, 3] [1, 2]
      : tensor<4x6xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x6xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<2x3xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[DX:.*]] = tensor.insert_slice %[[CT]] into %[[ZEROS]][%[[I]], 0] [2, 3] [1, 2]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x6xf32>, %i: index, %ct: tensor<2x3xf32>)
    -> tensor<4x6xf32> {
  %r, %dx = grad.vjp @f(%x, %i) cotangents(%ct) wrt [0]
      : (tensor<4x6xf32>, index, tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x6xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<4x6xf32>
// CHECK: %[[DR:.*]] = tensor.extract_slice %[[TX]][%[[I]], 0] [2, 3] [1, 2]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x6xf32>, %i: index, %tx: tensor<4x6xf32>)
    -> tensor<2x3xf32> {
  %r, %dr = grad.jvp @f(%x, %i) tangents(%tx) wrt [0]
      : (tensor<4x6xf32>, index, tensor<4x6xf32>)
      -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %dr : tensor<2x3xf32>
}

// A dimension that the slice drops comes back in the insert_slice.
func.func private @row(%x: tensor<4x6xf32>) -> tensor<6xf32> {
  %r = tensor.extract_slice %x[2, 0] [1, 6] [1, 1]
      : tensor<4x6xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @vjp_row(
// CHECK-SAME: %{{[^:]+}}: tensor<4x6xf32>, %[[CT:[^:]+]]: tensor<6xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DX:.*]] = tensor.insert_slice %[[CT]] into %[[ZEROS]][2, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
// CHECK: return %[[DX]]
func.func @vjp_row(%x: tensor<4x6xf32>, %ct: tensor<6xf32>) -> tensor<4x6xf32> {
  %r, %dx = grad.vjp @row(%x) cotangents(%ct) wrt [0]
      : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<4x6xf32>)
  return %dx : tensor<4x6xf32>
}

// A second use adds to the slice of what is there: no zeros, no sum of whole
// tensors.
func.func private @twice(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %r = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %r, %x : tensor<2xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_twice(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[CT0:[^:]+]]: tensor<2xf32>,
// CHECK-SAME: %[[CT1:[^:]+]]: tensor<4xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[CT1]][1] [2] [1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[CT0]] : {{.*}}) outs(%[[OLD]] :
// CHECK: arith.addf
// CHECK: %[[DX:.*]] = tensor.insert_slice %[[SUM]] into %[[CT1]][1] [2] [1]
// CHECK: return %[[DX]]
func.func @vjp_twice(%x: tensor<4xf32>, %ct0: tensor<2xf32>,
                     %ct1: tensor<4xf32>) -> tensor<4xf32> {
  %r:2, %dx = grad.vjp @twice(%x) cotangents(%ct0, %ct1) wrt [0]
      : (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>)
      -> (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes an addition to one element of zeros.
func.func private @f(%x: tensor<4xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<4xf32>
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[SUM:.*]] = arith.addf %[[CT]], %[[ZERO]]
// CHECK: %[[DX:.*]] = tensor.insert %[[SUM]] into %[[ZEROS]][%[[I]]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %i: index, %ct: f32) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x, %i) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, index, f32) -> (f32, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = tensor.extract %[[TX]][%[[I]]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %i: index, %tx: tensor<4xf32>) -> f32 {
  %r, %dr = grad.jvp @f(%x, %i) tangents(%tx) wrt [0]
      : (tensor<4xf32>, index, tensor<4xf32>) -> (f32, f32)
  return %dr : f32
}

// A second extraction adds to the element in place.
func.func private @twice(%x: tensor<4xf32>, %i: index, %j: index)
    -> (f32, f32) {
  %a = tensor.extract %x[%i] : tensor<4xf32>
  %b = tensor.extract %x[%j] : tensor<4xf32>
  return %a, %b : f32, f32
}

// CHECK-LABEL: func.func @vjp_twice(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[J:[^:]+]]: index, %[[CT0:[^:]+]]: f32
// CHECK: %[[FIRST:.*]] = tensor.insert %{{.*}} into %{{.*}}[%[[J]]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[FIRST]][%[[I]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[CT0]]
// CHECK: %[[DX:.*]] = tensor.insert %[[SUM]] into %[[FIRST]][%[[I]]]
// CHECK: return %[[DX]]
func.func @vjp_twice(%x: tensor<4xf32>, %i: index, %j: index, %ct0: f32,
                     %ct1: f32) -> tensor<4xf32> {
  %r:2, %dx = grad.vjp @twice(%x, %i, %j) cotangents(%ct0, %ct1) wrt [0]
      : (tensor<4xf32>, index, index, f32, f32) -> (f32, f32, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes an extract for the scalar and a zero in the cotangent of the
// destination.
func.func private @f(%s: f32, %d: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = tensor.insert %s into %d[%i] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: tensor<4xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[DS:.*]] = tensor.extract %[[CT]][%[[I]]]
// CHECK: %[[DD:.*]] = tensor.insert %[[ZERO]] into %[[CT]][%[[I]]]
// CHECK: return %[[DS]], %[[DD]]
func.func @vjp(%s: f32, %d: tensor<4xf32>, %i: index, %ct: tensor<4xf32>)
    -> (f32, tensor<4xf32>) {
  %r, %ds, %dd = grad.vjp @f(%s, %d, %i) cotangents(%ct) wrt [0, 1]
      : (f32, tensor<4xf32>, index, tensor<4xf32>)
      -> (tensor<4xf32>, f32, tensor<4xf32>)
  return %ds, %dd : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: tensor<4xf32>, %[[I:[^:]+]]: index,
// CHECK-SAME: %[[TS:[^:]+]]: f32, %[[TD:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = tensor.insert %[[TS]] into %[[TD]][%[[I]]]
// CHECK: return %[[DR]]
func.func @jvp(%s: f32, %d: tensor<4xf32>, %i: index, %ts: f32,
               %td: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%s, %d, %i) tangents(%ts, %td) wrt [0, 1]
      : (f32, tensor<4xf32>, index, f32, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes one extract an operand; an operand that is given twice gets both.
func.func private @f(%x: f32, %y: f32) -> tensor<2x2xf32> {
  %r = tensor.from_elements %x, %y, %y, %x : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32, %[[CT:[^:]+]]: tensor<2x2xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[E00:.*]] = tensor.extract %[[CT]][%[[C0]], %[[C0]]]
// CHECK: %[[E01:.*]] = tensor.extract %[[CT]][%[[C0]], %[[C1]]]
// CHECK: %[[E10:.*]] = tensor.extract %[[CT]][%[[C1]], %[[C0]]]
// CHECK: %[[DY:.*]] = arith.addf %[[E01]], %[[E10]]
// CHECK: %[[E11:.*]] = tensor.extract %[[CT]][%[[C1]], %[[C1]]]
// CHECK: %[[DX:.*]] = arith.addf %[[E00]], %[[E11]]
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp(%x: f32, %y: f32, %ct: tensor<2x2xf32>) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, tensor<2x2xf32>) -> (tensor<2x2xf32>, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32, %[[TX:[^:]+]]: f32,
// CHECK-SAME: %[[TY:[^:]+]]: f32
// CHECK: %[[DR:.*]] = tensor.from_elements %[[TX]], %[[TY]], %[[TY]], %[[TX]]
// CHECK: return %[[DR]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> tensor<2x2xf32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return %dr : tensor<2x2xf32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d(x - y) = dx - dy
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = arith.subf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.negf %[[CT]]
// CHECK: return %[[CT]], %[[V0]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.negf %[[TY]]
// CHECK: %[[V1:.*]] = arith.addf %[[TX]], %[[V0]]
// CHECK: return %[[V1]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d(a b + c) = b da + a db + dc
func.func private @f(%x: f32, %y: f32, %z: f32) -> f32 {
  %r = math.fma %x, %y, %z : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %{{[^:]+}}: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.mulf %[[CT]], %[[Y]]
// CHECK: %[[V1:.*]] = arith.mulf %[[CT]], %[[X]]
// CHECK: return %[[V0]], %[[V1]], %[[CT]] : f32, f32, f32
func.func @vjp(%x: f32, %y: f32, %z: f32, %ct: f32) -> (f32, f32, f32) {
  %r, %dx, %dy, %dz = grad.vjp @f(%x, %y, %z) cotangents(%ct) wrt [0, 1, 2]
      : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return %dx, %dy, %dz : f32, f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %{{[^:]+}}: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32, %[[TZ:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.mulf %[[TX]], %[[Y]]
// CHECK: %[[V1:.*]] = arith.mulf %[[TY]], %[[X]]
// CHECK: %[[V2:.*]] = arith.addf %[[V0]], %[[V1]]
// CHECK: %[[V3:.*]] = arith.addf %[[V2]], %[[TZ]]
// CHECK: return %[[V3]]
func.func @jvp(%x: f32, %y: f32, %z: f32, %tx: f32, %ty: f32, %tz: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y, %z) tangents(%tx, %ty, %tz) wrt [0, 1, 2]
      : (f32, f32, f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d fmod(x, y) = dx - trunc(x / y) dy
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: %[[V1:.*]] = math.trunc %[[V0]]
// CHECK: %[[V2:.*]] = arith.mulf %[[CT]], %[[V1]]
// CHECK: %[[V3:.*]] = arith.negf %[[V2]]
// CHECK: return %[[CT]], %[[V3]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: %[[V1:.*]] = math.trunc %[[V0]]
// CHECK: %[[V2:.*]] = arith.mulf %[[TY]], %[[V1]]
// CHECK: %[[V3:.*]] = arith.negf %[[V2]]
// CHECK: %[[V4:.*]] = arith.addf %[[TX]], %[[V3]]
// CHECK: return %[[V4]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

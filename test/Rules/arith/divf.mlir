// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d(x / y) = dx / y - (x / y) / y dy
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = arith.divf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: %[[V1:.*]] = arith.divf %[[CT]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.divf %[[V0]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.mulf %[[CT]], %[[V2]]
// CHECK: %[[V4:.*]] = arith.negf %[[V3]]
// CHECK: return %[[V1]], %[[V4]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[V0:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: %[[V1:.*]] = arith.divf %[[TX]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.divf %[[V0]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.mulf %[[TY]], %[[V2]]
// CHECK: %[[V4:.*]] = arith.negf %[[V3]]
// CHECK: %[[V5:.*]] = arith.addf %[[V1]], %[[V4]]
// CHECK: return %[[V5]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

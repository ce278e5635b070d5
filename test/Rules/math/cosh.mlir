// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d cosh(x) = sinh(x) dx
func.func private @f(%x: f32) -> f32 {
  %r = math.cosh %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[V0:.*]] = math.sinh %[[X]]
// CHECK: %[[V1:.*]] = arith.mulf %[[CT]], %[[V0]]
// CHECK: return %[[V1]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[V0:.*]] = math.sinh %[[X]]
// CHECK: %[[V1:.*]] = arith.mulf %[[TX]], %[[V0]]
// CHECK: return %[[V1]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

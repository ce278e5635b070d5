// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d rsqrt(x) = -1/2 rsqrt(x)^3 dx
func.func private @f(%x: f32) -> f32 {
  %r = math.rsqrt %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant -5.000000e-01
// CHECK: %[[V1:.*]] = math.rsqrt %[[X]]
// CHECK: %[[V2:.*]] = arith.mulf %[[V1]], %[[V1]]
// CHECK: %[[V3:.*]] = arith.mulf %[[V2]], %[[V1]]
// CHECK: %[[V4:.*]] = arith.mulf %[[CT]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.mulf %[[V4]], %[[V3]]
// CHECK: return %[[V5]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant -5.000000e-01
// CHECK: %[[V1:.*]] = math.rsqrt %[[X]]
// CHECK: %[[V2:.*]] = arith.mulf %[[V1]], %[[V1]]
// CHECK: %[[V3:.*]] = arith.mulf %[[V2]], %[[V1]]
// CHECK: %[[V4:.*]] = arith.mulf %[[TX]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.mulf %[[V4]], %[[V3]]
// CHECK: return %[[V5]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d asin(x) = dx / sqrt(1 - x^2)
func.func private @f(%x: f32) -> f32 {
  %r = math.asin %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V2:.*]] = arith.subf %[[C0]], %[[V1]]
// CHECK: %[[V3:.*]] = math.rsqrt %[[V2]]
// CHECK: %[[V4:.*]] = arith.mulf %[[CT]], %[[V3]]
// CHECK: return %[[V4]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V2:.*]] = arith.subf %[[C0]], %[[V1]]
// CHECK: %[[V3:.*]] = math.rsqrt %[[V2]]
// CHECK: %[[V4:.*]] = arith.mulf %[[TX]], %[[V3]]
// CHECK: return %[[V4]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d expm1(x) = (expm1(x) + 1) dx
func.func private @f(%x: f32) -> f32 {
  %r = math.expm1 %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = math.expm1 %[[X]]
// CHECK: %[[V2:.*]] = arith.addf %[[V1]], %[[C0]]
// CHECK: %[[V3:.*]] = arith.mulf %[[CT]], %[[V2]]
// CHECK: return %[[V3]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = math.expm1 %[[X]]
// CHECK: %[[V2:.*]] = arith.addf %[[V1]], %[[C0]]
// CHECK: %[[V3:.*]] = arith.mulf %[[TX]], %[[V2]]
// CHECK: return %[[V3]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

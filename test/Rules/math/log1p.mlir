// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d log1p(x) = dx / (x + 1)
func.func private @f(%x: f32) -> f32 {
  %r = math.log1p %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = arith.addf %[[X]], %[[C0]]
// CHECK: %[[V2:.*]] = arith.divf %[[CT]], %[[V1]]
// CHECK: return %[[V2]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[V1:.*]] = arith.addf %[[X]], %[[C0]]
// CHECK: %[[V2:.*]] = arith.divf %[[TX]], %[[V1]]
// CHECK: return %[[V2]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d |x| = sign(x) dx, zero at zero
func.func private @f(%x: f32) -> f32 {
  %r = math.absf %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant -1.000000e+00
// CHECK: %[[C2:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V3:.*]] = arith.cmpf olt, %[[X]], %[[C2]]
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[C1]], %[[C2]]
// CHECK: %[[V5:.*]] = arith.cmpf olt, %[[C2]], %[[X]]
// CHECK: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]]
// CHECK: %[[V7:.*]] = arith.mulf %[[CT]], %[[V6]]
// CHECK: return %[[V7]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant -1.000000e+00
// CHECK: %[[C2:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V3:.*]] = arith.cmpf olt, %[[X]], %[[C2]]
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[C1]], %[[C2]]
// CHECK: %[[V5:.*]] = arith.cmpf olt, %[[C2]], %[[X]]
// CHECK: %[[V6:.*]] = arith.select %[[V5]], %[[C0]], %[[V4]]
// CHECK: %[[V7:.*]] = arith.mulf %[[TX]], %[[V6]]
// CHECK: return %[[V7]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

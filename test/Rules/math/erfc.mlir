// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d erfc(x) = -2 / sqrt(pi) exp(-x^2) dx
func.func private @f(%x: f32) -> f32 {
  %r = math.erfc %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.12837923
// CHECK: %[[V1:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V2:.*]] = arith.negf %[[V1]]
// CHECK: %[[V3:.*]] = math.exp %[[V2]]
// CHECK: %[[V4:.*]] = arith.mulf %[[V3]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.mulf %[[V4]], %[[CT]]
// CHECK: %[[V6:.*]] = arith.negf %[[V5]]
// CHECK: return %[[V6]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.12837923
// CHECK: %[[V1:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V2:.*]] = arith.negf %[[V1]]
// CHECK: %[[V3:.*]] = math.exp %[[V2]]
// CHECK: %[[V4:.*]] = arith.mulf %[[V3]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.mulf %[[V4]], %[[TX]]
// CHECK: %[[V6:.*]] = arith.negf %[[V5]]
// CHECK: return %[[V6]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

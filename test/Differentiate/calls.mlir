// RUN: gradc-opt %s --grad-differentiate | FileCheck %s

// CHECK-LABEL: func.func private @square(
func.func private @square(%x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  return %0 : f32
}

func.func private @fourth(%x: f32) -> f32 {
  %0 = call @square(%x) : (f32) -> f32
  %1 = call @square(%0) : (f32) -> f32
  return %1 : f32
}

// Two transforms of one function share one expansion; other calls of a callee
// are left as they are.
// CHECK-LABEL: func.func @twice(
// CHECK: call @fourth.vjp(
// CHECK: call @fourth.vjp(
// CHECK: call @square(
func.func @twice(%x: f32, %y: f32, %ct: f32) -> (f32, f32, f32) {
  %r0, %dx = grad.vjp @fourth(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  %r1, %dy = grad.vjp @fourth(%y) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  %s = call @square(%x) : (f32) -> f32
  return %dx, %dy, %s : f32, f32, f32
}

// The copy that is differentiated has the callee inlined, once a call.
// CHECK-LABEL: func.func private @fourth.vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-NOT: call
// CHECK: %[[X2:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[X4:.*]] = arith.mulf %[[X2]], %[[X2]]
// CHECK: arith.mulf %[[CT]], %[[X2]]
// CHECK: arith.mulf %[[CT]], %[[X2]]
// CHECK: %[[D2:.*]] = arith.addf
// CHECK: arith.mulf %[[D2]], %[[X]]
// CHECK: arith.mulf %[[D2]], %[[X]]
// CHECK: %[[DX:.*]] = arith.addf
// CHECK: return %[[X4]], %[[DX]]

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The value gets the gradient from bound to bound, a bound where it alone is the
// result.
func.func private @f(%x: f32, %l: f32, %h: f32) -> f32 {
  %r = math.clampf %x to [%l, %h] : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[L:[^:]+]]: f32, %[[H:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[XH:.*]] = arith.cmpf ole, %[[X]], %[[H]]
// CHECK: %[[V0:.*]] = arith.select %[[XH]], %[[CT]], %[[ZERO]]
// CHECK: %[[LX:.*]] = arith.cmpf ole, %[[L]], %[[X]]
// CHECK: %[[DX:.*]] = arith.select %[[LX]], %[[V0]], %[[ZERO]]
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[L]]
// CHECK: %[[V1:.*]] = arith.select %[[BELOW]], %[[CT]], %[[ZERO]]
// CHECK: %[[LH:.*]] = arith.cmpf olt, %[[L]], %[[H]]
// CHECK: %[[DL:.*]] = arith.select %[[LH]], %[[V1]], %[[ZERO]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf olt, %[[H]], %[[X]]
// CHECK: %[[V2:.*]] = arith.select %[[ABOVE]], %[[CT]], %[[ZERO]]
// CHECK: %[[HL:.*]] = arith.cmpf olt, %[[H]], %[[L]]
// CHECK: %[[DH:.*]] = arith.select %[[HL]], %[[CT]], %[[V2]]
// CHECK: return %[[DX]], %[[DL]], %[[DH]]
func.func @vjp(%x: f32, %l: f32, %h: f32, %ct: f32) -> (f32, f32, f32) {
  %r, %dx, %dl, %dh = grad.vjp @f(%x, %l, %h) cotangents(%ct) wrt [0, 1, 2]
      : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return %dx, %dl, %dh : f32, f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-COUNT-2: arith.addf
// CHECK: return
func.func @jvp(%x: f32, %l: f32, %h: f32, %tx: f32, %tl: f32, %th: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %l, %h) tangents(%tx, %tl, %th) wrt [0, 1, 2]
      : (f32, f32, f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

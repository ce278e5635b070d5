// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d x^n = n x^(n-1) dx, zero for n = 0
func.func private @f(%x: f32, %n: i32) -> f32 {
  %r = math.fpowi %x, %n : f32, i32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[N:[^:]+]]: i32, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[FLAT:.*]] = arith.cmpi eq, %[[N]],
// CHECK: %[[EXPONENT:.*]] = arith.select %[[FLAT]], %{{.*}}, %[[N]]
// CHECK: %[[LESS:.*]] = arith.subi %[[EXPONENT]],
// CHECK: %[[POWER:.*]] = math.fpowi %[[X]], %[[LESS]]
// CHECK: %[[FACTOR:.*]] = arith.sitofp %[[N]]
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[FACTOR]], %[[POWER]]
// CHECK: %[[T:.*]] = arith.mulf %[[CT]], %[[SLOPE]]
// CHECK: %[[DX:.*]] = arith.select %[[FLAT]], %[[ZERO]], %[[T]]
// CHECK: return %[[DX]]
func.func @vjp(%x: f32, %n: i32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %n) cotangents(%ct) wrt [0]
      : (f32, i32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[N:[^:]+]]: i32, %[[TX:[^:]+]]: f32
// CHECK: %[[T:.*]] = arith.mulf %[[TX]],
// CHECK: %[[DR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[T]]
// CHECK: return %[[DR]]
func.func @jvp(%x: f32, %n: i32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %n) tangents(%tx) wrt [0]
      : (f32, i32, f32) -> (f32, f32)
  return %dr : f32
}

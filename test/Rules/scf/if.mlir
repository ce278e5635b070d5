// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The side that was taken is differentiated, on the same condition. What a side
// does not read gets zeros there.
func.func private @f(%x: f32, %y: f32, %c: i1) -> f32 {
  %r = scf.if %c -> f32 {
    %0 = math.exp %x : f32
    scf.yield %0 : f32
  } else {
    %0 = arith.mulf %y, %y : f32
    scf.yield %0 : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[C:[^:]+]]: i1, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[D:.*]]:2 = scf.if %[[C]] -> (f32, f32) {
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[DX:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK-NEXT: scf.yield %[[DX]], %[[ZERO]]
// CHECK-NEXT: } else {
// CHECK-NOT: exp
// CHECK: scf.yield %[[ZERO]], %{{.*}}
// CHECK: return %[[D]]#0, %[[D]]#1
func.func @vjp(%x: f32, %y: f32, %c: i1, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y, %c) cotangents(%ct) wrt [0, 1]
      : (f32, f32, i1, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// One branch yields values and tangents.
// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[C:[^:]+]]: i1, %[[TX:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[R:.*]]:2 = scf.if %[[C]] -> (f32, f32) {
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[T:.*]] = arith.mulf %[[TX]], %[[EXP]]
// CHECK: scf.yield %[[EXP]], %[[T]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %[[ZERO]]
// CHECK-NOT: scf.if
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @jvp(%x: f32, %y: f32, %c: i1, %tx: f32) -> (f32, f32) {
  %r, %t = grad.jvp @f(%x, %y, %c) tangents(%tx) wrt [0]
      : (f32, f32, i1, f32) -> (f32, f32)
  return %r, %t : f32, f32
}

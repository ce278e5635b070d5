// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Its ops take its place.
func.func private @f(%x: f32) -> f32 {
  %r = scf.execute_region -> f32 {
    %0 = math.exp %x : f32
    scf.yield %0 : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[DX:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK-NEXT: return %[[DX]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[DR:.*]] = arith.mulf %[[TX]], %[[EXP]]
// CHECK-NEXT: return %[[DR]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

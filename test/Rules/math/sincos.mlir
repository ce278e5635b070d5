// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d sincos(x) = cos(x) dx, -sin(x) dx
func.func private @f(%x: f32) -> f32 {
  %s, %c = math.sincos %x : f32
  %r = arith.addf %s, %c : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-NEXT: %[[SIN:.*]] = math.sin %[[X]]
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[CT]], %[[SIN]]
// CHECK-NEXT: %[[B:.*]] = arith.negf %[[A]]
// CHECK-NEXT: %[[COS:.*]] = math.cos %[[X]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[CT]], %[[COS]]
// CHECK-NEXT: %[[DX:.*]] = arith.addf %[[B]], %[[C]]
// CHECK-NEXT: return %[[DX]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK-NEXT: %[[COS:.*]] = math.cos %[[X]]
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[TX]], %[[COS]]
// CHECK-NEXT: %[[SIN:.*]] = math.sin %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[TX]], %[[SIN]]
// CHECK-NEXT: %[[C:.*]] = arith.negf %[[B]]
// CHECK-NEXT: %[[DR:.*]] = arith.addf %[[A]], %[[C]]
// CHECK-NEXT: return %[[DR]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

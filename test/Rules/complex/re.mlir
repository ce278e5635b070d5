// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The real part of a number, a number with that real part.
func.func private @f(%x: complex<f32>) -> f32 {
  %r = complex.re %x : complex<f32>
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[DX:.*]] = complex.create %[[CT]], %[[ZERO]]
// CHECK: return %[[DX]]
func.func @vjp(%x: complex<f32>, %ct: f32) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (complex<f32>, f32) -> (f32, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>
// CHECK: %[[DR:.*]] = complex.re %[[TX]]
// CHECK: return %[[DR]]
func.func @jvp(%x: complex<f32>, %tx: complex<f32>) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (complex<f32>, complex<f32>) -> (f32, f32)
  return %dr : f32
}

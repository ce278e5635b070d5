// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Itself.
func.func private @f(%x: complex<f32>) -> complex<f32> {
  %r = complex.conj %x : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[DX:.*]] = complex.conj %[[CT]]
// CHECK: return %[[DX]]
func.func @vjp(%x: complex<f32>, %ct: complex<f32>) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>
// CHECK: %[[DR:.*]] = complex.conj %[[TX]]
// CHECK: return %[[DR]]
func.func @jvp(%x: complex<f32>, %tx: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

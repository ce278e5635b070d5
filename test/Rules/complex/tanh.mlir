// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d tanh(z) = (1 - tanh(z)^2) dz
func.func private @f(%x: complex<f32>) -> complex<f32> {
  %r = complex.tanh %x : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[R:.*]] = complex.tanh %[[X]]
// CHECK: %[[A:.*]] = complex.mul %[[R]], %[[R]]
// CHECK: %[[S:.*]] = complex.sub %{{.*}}, %[[A]]
// CHECK: %[[C:.*]] = complex.conj %[[S]]
// CHECK: %[[DX:.*]] = complex.mul %[[CT]], %[[C]]
// CHECK: return %[[DX]]
func.func @vjp(%x: complex<f32>, %ct: complex<f32>) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>
// CHECK: %[[R:.*]] = complex.tanh %[[X]]
// CHECK: %[[A:.*]] = complex.mul %[[R]], %[[R]]
// CHECK: %[[S:.*]] = complex.sub %{{.*}}, %[[A]]
// CHECK: %[[DR:.*]] = complex.mul %[[TX]], %[[S]]
// CHECK: return %[[DR]]
func.func @jvp(%x: complex<f32>, %tx: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

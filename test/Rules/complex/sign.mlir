// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The part across the direction, by the absolute value; zero at zero.
func.func private @f(%x: complex<f32>) -> complex<f32> {
  %r = complex.sign %x : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[S:.*]] = complex.sign %[[X]]
// CHECK: %[[C:.*]] = complex.conj %[[S]]
// CHECK: complex.mul %[[C]], %[[CT]]
// CHECK: %[[ALONG:.*]] = complex.mul %[[S]],
// CHECK: %[[ACROSS:.*]] = complex.sub %[[CT]], %[[ALONG]]
// CHECK: complex.div %[[ACROSS]],
// CHECK: %[[D:.*]] = arith.select
// CHECK: return %[[D]]
func.func @vjp(%x: complex<f32>, %ct: complex<f32>) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>
// CHECK: %[[S:.*]] = complex.sign %[[X]]
// CHECK: %[[C:.*]] = complex.conj %[[S]]
// CHECK: complex.mul %[[C]], %[[TX]]
// CHECK: %[[ALONG:.*]] = complex.mul %[[S]],
// CHECK: %[[ACROSS:.*]] = complex.sub %[[TX]], %[[ALONG]]
// CHECK: complex.div %[[ACROSS]],
// CHECK: %[[D:.*]] = arith.select
// CHECK: return %[[D]]
func.func @jvp(%x: complex<f32>, %tx: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

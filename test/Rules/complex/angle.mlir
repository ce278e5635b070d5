// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d angle(z) = Im(dz / z), zero at zero
func.func private @f(%x: complex<f32>) -> f32 {
  %r = complex.angle %x : complex<f32>
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: f32
// CHECK-DAG: %[[C:.*]] = complex.create %[[CT]], %{{.*}}
// CHECK-DAG: %[[S:.*]] = arith.select
// CHECK: %[[DX:.*]] = complex.mul %[[C]], %[[S]]
// CHECK: return %[[DX]]
func.func @vjp(%x: complex<f32>, %ct: f32) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (complex<f32>, f32) -> (f32, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>
// CHECK: %[[S:.*]] = arith.select
// CHECK: %[[C:.*]] = complex.conj %[[S]]
// CHECK: %[[P:.*]] = complex.mul %[[C]], %[[TX]]
// CHECK: %[[DR:.*]] = complex.re %[[P]]
// CHECK: return %[[DR]]
func.func @jvp(%x: complex<f32>, %tx: complex<f32>) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (complex<f32>, complex<f32>) -> (f32, f32)
  return %dr : f32
}

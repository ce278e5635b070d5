// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d z^n = n z^(n-1) dz, zero for n = 0
func.func private @f(%x: complex<f32>, %n: i32) -> complex<f32> {
  %r = complex.powi %x, %n : complex<f32>, i32
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[N:[^:]+]]: i32, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[FLAT:.*]] = arith.cmpi eq, %[[N]],
// CHECK: %[[EXPONENT:.*]] = arith.select %[[FLAT]], %{{.*}}, %[[N]]
// CHECK: %[[LESS:.*]] = arith.subi %[[EXPONENT]],
// CHECK-DAG: %[[F:.*]] = arith.sitofp %[[N]]
// CHECK-DAG: %[[FACTOR:.*]] = complex.create %[[F]],
// CHECK-DAG: %[[P:.*]] = complex.powi %[[X]], %[[LESS]]
// CHECK: %[[S:.*]] = complex.mul %[[FACTOR]], %[[P]]
// CHECK: complex.conj %[[S]]
// CHECK: return
func.func @vjp(%x: complex<f32>, %n: i32, %ct: complex<f32>) -> complex<f32> {
  %r, %dx = grad.vjp @f(%x, %n) cotangents(%ct) wrt [0]
      : (complex<f32>, i32, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dx : complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[N:[^:]+]]: i32, %[[TX:[^:]+]]: complex<f32>
// CHECK: complex.powi
// CHECK: complex.mul %[[TX]],
// CHECK: return
func.func @jvp(%x: complex<f32>, %n: i32, %tx: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x, %n) tangents(%tx) wrt [0]
      : (complex<f32>, i32, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

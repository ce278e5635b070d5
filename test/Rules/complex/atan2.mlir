// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d atan2(y, x) = (x dy - y dx) / (y^2 + x^2)
func.func private @f(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %r = complex.atan2 %x, %y : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK-DAG: %[[XX:.*]] = complex.mul %[[X]], %[[X]]
// CHECK-DAG: %[[YY:.*]] = complex.mul %[[Y]], %[[Y]]
// CHECK: %[[N:.*]] = complex.add %[[XX]], %[[YY]]
// CHECK: %[[A:.*]] = complex.div %[[Y]], %[[N]]
// CHECK: complex.conj %[[A]]
// CHECK: %[[B:.*]] = complex.div %[[X]], %[[N]]
// CHECK: complex.neg %[[B]]
// CHECK: return
func.func @vjp(%x: complex<f32>, %y: complex<f32>, %ct: complex<f32>) -> (complex<f32>, complex<f32>) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>)
  return %dx, %dy : complex<f32>, complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>, %[[TY:[^:]+]]: complex<f32>
// CHECK: complex.add
// CHECK: return
func.func @jvp(%x: complex<f32>, %y: complex<f32>, %tx: complex<f32>, %ty: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d(x - y) = dx - dy
func.func private @f(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %r = complex.sub %x, %y : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[DY:.*]] = complex.neg %[[CT]]
// CHECK: return %[[CT]], %[[DY]]
func.func @vjp(%x: complex<f32>, %y: complex<f32>, %ct: complex<f32>) -> (complex<f32>, complex<f32>) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>)
  return %dx, %dy : complex<f32>, complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>, %[[TY:[^:]+]]: complex<f32>
// CHECK: %[[N:.*]] = complex.neg %[[TY]]
// CHECK: %[[DR:.*]] = complex.add %[[TX]], %[[N]]
// CHECK: return %[[DR]]
func.func @jvp(%x: complex<f32>, %y: complex<f32>, %tx: complex<f32>, %ty: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

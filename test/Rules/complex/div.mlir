// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d(x / y) = dx / y - (x / y) / y dy
func.func private @f(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %r = complex.div %x, %y : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[R:.*]] = complex.div %[[X]], %[[Y]]
// CHECK: %[[A:.*]] = complex.div %{{.*}}, %[[Y]]
// CHECK: %[[CA:.*]] = complex.conj %[[A]]
// CHECK: %[[DX:.*]] = complex.mul %[[CT]], %[[CA]]
// CHECK: %[[B:.*]] = complex.div %[[R]], %[[Y]]
// CHECK: %[[N:.*]] = complex.neg %[[B]]
// CHECK: %[[CN:.*]] = complex.conj %[[N]]
// CHECK: %[[DY:.*]] = complex.mul %[[CT]], %[[CN]]
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp(%x: complex<f32>, %y: complex<f32>, %ct: complex<f32>) -> (complex<f32>, complex<f32>) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>)
  return %dx, %dy : complex<f32>, complex<f32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[TX:[^:]+]]: complex<f32>, %[[TY:[^:]+]]: complex<f32>
// CHECK: %[[R:.*]] = complex.div %[[X]], %[[Y]]
// CHECK: %[[B:.*]] = complex.div %[[R]], %[[Y]]
// CHECK: complex.neg %[[B]]
// CHECK: complex.add
// CHECK: return
func.func @jvp(%x: complex<f32>, %y: complex<f32>, %tx: complex<f32>, %ty: complex<f32>) -> complex<f32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (complex<f32>, complex<f32>, complex<f32>, complex<f32>) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

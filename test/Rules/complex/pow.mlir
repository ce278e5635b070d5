// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d x^y = y x^(y-1) dx, zero for y = 0; + x^y log x dy, zero for x = 0 <= y
func.func private @f(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %r = complex.pow %x, %y : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: complex<f32>, %[[Y:[^:]+]]: complex<f32>, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[R:.*]] = complex.pow %[[X]], %[[Y]]
// CHECK: %[[LESS:.*]] = complex.sub %[[Y]],
// CHECK: %[[P:.*]] = complex.pow %[[X]], %[[LESS]]
// CHECK: %[[SLOPE:.*]] = complex.mul %[[Y]], %[[P]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[SLOPE]]
// CHECK: complex.eq %[[X]],
// CHECK: %[[L:.*]] = complex.log %[[X]]
// CHECK: complex.mul %[[R]], %[[L]]
// CHECK: arith.select
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

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The parts of the cotangent.
func.func private @f(%a: f32, %b: f32) -> complex<f32> {
  %r = complex.create %a, %b : complex<f32>
  return %r : complex<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[A:[^:]+]]: f32, %[[B:[^:]+]]: f32, %[[CT:[^:]+]]: complex<f32>
// CHECK: %[[DA:.*]] = complex.re %[[CT]]
// CHECK: %[[DB:.*]] = complex.im %[[CT]]
// CHECK: return %[[DA]], %[[DB]]
func.func @vjp(%a: f32, %b: f32, %ct: complex<f32>) -> (f32, f32) {
  %r, %da, %db = grad.vjp @f(%a, %b) cotangents(%ct) wrt [0, 1]
      : (f32, f32, complex<f32>) -> (complex<f32>, f32, f32)
  return %da, %db : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[A:[^:]+]]: f32, %[[B:[^:]+]]: f32, %[[TA:[^:]+]]: f32, %[[TB:[^:]+]]: f32
// CHECK: %[[A:.*]] = complex.create %[[TA]], %{{.*}}
// CHECK: %[[B:.*]] = complex.create %{{.*}}, %[[TB]]
// CHECK: %[[DR:.*]] = complex.add %[[A]], %[[B]]
// CHECK: return %[[DR]]
func.func @jvp(%a: f32, %b: f32, %ta: f32, %tb: f32) -> complex<f32> {
  %r, %dr = grad.jvp @f(%a, %b) tangents(%ta, %tb) wrt [0, 1]
      : (f32, f32, f32, f32) -> (complex<f32>, complex<f32>)
  return %dr : complex<f32>
}

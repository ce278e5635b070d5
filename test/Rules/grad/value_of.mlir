// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The value of one operand, the gradient of the other.
func.func private @f(%v: f32, %p: f32) -> f32 {
  %m = grad.value_of %v, %p : f32, f32 -> f32
  %r = arith.mulf %m, %m : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[V:[^:]+]]: f32, %[[P:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[M:.*]] = grad.value_of %[[V]], %[[P]]
// CHECK: %[[HALF:.*]] = arith.mulf %[[CT]], %[[M]]
// CHECK: %[[DP:.*]] = arith.addf %[[HALF]], %[[HALF]]
// CHECK: return %[[ZERO]], %[[DP]]
func.func @vjp(%v: f32, %p: f32, %ct: f32) -> (f32, f32) {
  %r, %dv, %dp = grad.vjp @f(%v, %p) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dv, %dp : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[V:[^:]+]]: f32, %[[P:[^:]+]]: f32, %{{[^:]+}}: f32,
// CHECK-SAME: %[[TP:[^:]+]]: f32
// CHECK: %[[M:.*]] = grad.value_of %[[V]], %[[P]]
// CHECK: %[[HALF:.*]] = arith.mulf %[[TP]], %[[M]]
// CHECK: %[[DR:.*]] = arith.addf %[[HALF]], %[[HALF]]
// CHECK: return %[[DR]]
func.func @jvp(%v: f32, %p: f32, %tv: f32, %tp: f32) -> f32 {
  %r, %dr = grad.jvp @f(%v, %p) tangents(%tv, %tp) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

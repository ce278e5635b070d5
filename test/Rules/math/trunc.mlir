// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The derivative is identically zero.
func.func private @f(%x: f32) -> f32 {
  %r = math.trunc %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: return %[[C0]]
func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: return %[[C0]]
func.func @jvp(%x: f32, %tx: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dr : f32
}

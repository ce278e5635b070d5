// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// A fresh leaf passes nothing on, in either mode.
func.func private @f(%x: f32, %y: f32) -> f32 {
  %c = grad.leaf %y : f32 -> f32
  %r = arith.mulf %x, %c : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[C:.*]] = grad.leaf %[[Y]]
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[C]]
// CHECK: return %[[DX]], %[[ZERO]]
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32
// CHECK: %[[C:.*]] = grad.leaf %[[Y]]
// CHECK: %[[DR:.*]] = arith.mulf %[[TX]], %[[C]]
// CHECK-NEXT: return %[[DR]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-differentiate --mlir-pass-statistics \
// RUN:     --mlir-pass-statistics-display=list -o /dev/null 2>&1 \
// RUN:   | FileCheck %s

// The gradient of `w` takes one product. Nothing is created for `x`, for the
// chain that computes what `w` is multiplied by, or for the result without a
// gradient.
func.func private @f(%x: f32, %w: f32) -> (f32, f32) {
  %0 = math.sin %x : f32
  %1 = math.exp %0 : f32
  %2 = arith.mulf %1, %w : f32
  return %2, %1 : f32, f32
}

// CHECK: (S) 1 created-ops
func.func @g(%x: f32, %w: f32, %ct: f32) -> f32 {
  %r:3 = grad.vjp @f(%x, %w) cotangents(%ct, %ct) wrt [1]
      : (f32, f32, f32, f32) -> (f32, f32, f32)
  return %r#2 : f32
}

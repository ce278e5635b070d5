// RUN: gradc-opt %s --grad-expand-math | FileCheck %s

// Arithmetic, without calls and without branches.
// CHECK-LABEL: func @f
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK-NOT: math.tanh
// CHECK: math.fma
// CHECK: return
func.func @f(%x: f32, %y: f64) -> (f32, f64, f32) {
  %a = math.exp %x : f32
  %b = math.log %y : f64
  %c = math.tanh %a : f32
  return %a, %b, %c : f32, f64, f32
}

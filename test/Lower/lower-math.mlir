// RUN: gradc-opt %s --grad-lower-math | FileCheck %s

// CHECK-LABEL: func @f
// CHECK: call @log1pf
// CHECK: call @expm1
// CHECK: math.exp
func.func @f(%x: f32, %y: f64) -> (f32, f64, f32) {
  %a = math.log1p %x : f32
  %b = math.expm1 %y : f64
  %c = math.exp %x : f32
  return %a, %b, %c : f32, f64, f32
}

// CHECK-LABEL: func @truncate
// CHECK: %[[HALF:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.truncf %[[HALF]] : f32 to f16
// CHECK-NOT: f64 to bf16
func.func @truncate(%x: f64) -> (f16, bf16) {
  %a = arith.truncf %x : f64 to f16
  %b = arith.truncf %x : f64 to bf16
  return %a, %b : f16, bf16
}

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

// In f32 alone.
// CHECK-LABEL: func @single
// CHECK-NOT: math.{{erf|sin|cos|log1p|expm1|powf}}
// CHECK: return
func.func @single(%x: f32) -> (f32, f32, f32, f32, f32, f32) {
  %a = math.erf %x : f32
  %b = math.sin %x : f32
  %c = math.cos %x : f32
  %d = math.log1p %x : f32
  %e = math.expm1 %x : f32
  %f = math.powf %x, %x : f32
  return %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func @double
// CHECK: math.sin
// CHECK: math.powf
func.func @double(%x: f64) -> (f64, f64) {
  %a = math.sin %x : f64
  %b = math.powf %x, %x : f64
  return %a, %b : f64, f64
}

// Products overflow where a negative power is still a subnormal number.
// CHECK-LABEL: func @powers
// CHECK-SAME: %[[X:.*]]: f64
// CHECK: math.powf %[[X]], %{{.*}}
// CHECK: math.powf %[[X]], %{{.*}}
// CHECK-NOT: math.powf
// CHECK: math.fpowi %[[X]], %{{.*}}
func.func @powers(%x: f64) -> (f64, f64, f64) {
  %minus = arith.constant -3 : i64
  %long = arith.constant 8 : i64
  %short = arith.constant 7 : i64
  %a = math.fpowi %x, %minus : f64, i64
  %b = math.fpowi %x, %long : f64, i64
  %c = math.fpowi %x, %short : f64, i64
  return %a, %b, %c : f64, f64, f64
}

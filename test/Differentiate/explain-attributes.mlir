// RUN: gradc-opt %s -grad-explain=attributes=true -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK: func.func @f(%[[X:[a-z0-9]+]]: f32 {
// CHECK-SAME: grad.explain = {needed = true, reason = "root", requires_grad = true, root = 0 : i64, roots = array<i64: 0>}
// CHECK-SAME: %{{[a-z0-9]+}}: f32 {grad.explain = {needed = false, reason = "constant", requires_grad = false}
func.func @f(%x: f32 {grad.requires_grad}, %k: f32) -> (f32, f32) {
  // CHECK-NEXT: math.exp %[[X]] {grad.explain = [{needed = true, path = [loc("exp")], reason = "depends", requires_grad = true, root = 0 : i64, roots = array<i64: 0>}]}
  %0 = math.exp %x : f32 loc("exp")
  // CHECK-NEXT: grad.stop_gradient
  // CHECK-SAME: {grad.cuts = array<i64: 0>, grad.explain = [{barrier = loc("stop"), needed = false, reason = "stopped", requires_grad = false}]}
  %1 = grad.stop_gradient %0 : f32 -> f32 loc("stop")
  // CHECK-NEXT: math.sin
  // CHECK-SAME: {grad.explain = [{barrier = loc("stop"), needed = false, reason = "stopped", requires_grad = false}]}
  %2 = math.sin %1 : f32
  // CHECK-NEXT: arith.fptosi
  // CHECK-SAME: {grad.explain = [{needed = false, reason = "type", requires_grad = false}]}
  %3 = arith.fptosi %0 : f32 to i32
  return %0, %2 : f32, f32
}

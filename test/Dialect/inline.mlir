// RUN: gradc-opt %s -inline | FileCheck %s

func.func private @callee(%x: f32) -> f32 {
  %0 = grad.no_grad -> f32 {
    %1 = math.exp %x : f32
    grad.yield %1 : f32
  }
  %2 = grad.stop_gradient %0 : f32 -> f32
  return %2 : f32
}

// CHECK-LABEL: func @caller(
func.func @caller(%x: f32) -> f32 {
  // CHECK: grad.checkpoint
  // CHECK: grad.no_grad
  // CHECK: math.exp
  // CHECK: grad.stop_gradient
  %0 = grad.checkpoint -> f32 {
    %1 = func.call @callee(%x) : (f32) -> f32
    grad.yield %1 : f32
  }
  return %0 : f32
}

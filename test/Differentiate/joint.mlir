// RUN: gradc-opt %s --grad-joint | FileCheck %s

// The joint function takes a cotangent for each result that requires a gradient
// and returns a gradient for each root that has a path to one. The attributes
// say which: here results 0 and 2, arguments 0 and 2. `%c` is a root without a
// path, `%k` no root.
// CHECK-LABEL: func.func private @f(
func.func @f(%x: f32 {grad.requires_grad, grad.name = "x"}, %k: f32,
             %y: f32 {grad.requires_grad}, %c: f32 {grad.requires_grad})
    -> (f32, f32, f32, i1) {
  %0 = arith.mulf %x, %k : f32
  %1 = math.sin %k : f32
  %2 = arith.addf %0, %y : f32
  %3 = arith.cmpf olt, %c, %k : f32
  return %0, %1, %2, %3 : f32, f32, f32, i1
}

// The result without a gradient has the cotangent zero.
// CHECK-LABEL: func.func @f.joint(
// CHECK-SAME: %[[X:[^:]+]]: f32 {grad.name = "x"}, %[[K:[^:]+]]: f32,
// CHECK-SAME: %[[Y:[^:]+]]: f32, %[[C:[^:]+]]: f32,
// CHECK-SAME: %[[CT0:[^:]+]]: f32, %[[CT2:[^:]+]]: f32)
// CHECK-SAME: -> (f32, f32, f32, i1, f32, f32)
// CHECK-SAME: grad.cotangents = array<i64: 0, 2>
// CHECK-SAME: grad.gradients = array<i64: 0, 2>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: %[[R:.*]]:6 = grad.vjp @f(%[[X]], %[[K]], %[[Y]], %[[C]])
// CHECK-SAME: cotangents(%[[CT0]], %[[ZERO]], %[[CT2]]) wrt [0, 2]
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#4, %[[R]]#5

// Barriers count: nothing requires a gradient behind one, and the function stays
// as it is.
// CHECK-LABEL: func.func @stopped(
// CHECK-NOT: @stopped.joint
func.func @stopped(%x: f32 {grad.requires_grad}) -> f32 {
  %0 = grad.no_grad -> f32 {
    %1 = math.sin %x : f32
    grad.yield %1 : f32
  }
  return %0 : f32
}

// So do the bodies of callees.
func.func private @second(%x: f32, %y: f32) -> f32 {
  %0 = math.sin %y : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @calls.joint(
// CHECK-SAME: grad.gradients = array<i64: 1>
func.func @calls(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad})
    -> f32 {
  %0 = call @second(%x, %y) : (f32, f32) -> f32
  return %0 : f32
}

// Without roots there is nothing to do.
// CHECK-LABEL: func.func @plain(
// CHECK-NOT: @plain.joint
func.func @plain(%x: f32) -> f32 {
  return %x : f32
}

// An argument that only a rule reads which gives it no gradient gets none, but
// the result requires one.
func.func private @forward(%x: f32, %y: f32) -> (f32, f32) {
  return %x, %y : f32, f32
}
func.func private @backward(%y: f32, %ct: f32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  return %ct, %zero : f32, f32
}
func.func private @straight(%x: f32, %y: f32 {grad.no_gradient}) -> f32
    attributes {grad.custom_vjp = [@forward, @backward]} {
  return %x : f32
}

// CHECK-LABEL: func.func @ruled.joint(
// CHECK-SAME: grad.cotangents = array<i64: 0, 1>
// CHECK-SAME: grad.gradients = array<i64: 0>
func.func @ruled(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad})
    -> (f32, f32) {
  %0 = call @straight(%x, %y) : (f32, f32) -> f32
  %1 = math.sin %y : f32
  %2 = call @straight(%x, %1) : (f32, f32) -> f32
  return %0, %2 : f32, f32
}

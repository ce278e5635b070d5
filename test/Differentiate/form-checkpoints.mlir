// RUN: gradc-opt %s -grad-lower-regions -split-input-file | FileCheck %s

// What depends on an input and on no result is the region, with what only
// it reads; what reads a result comes behind it.
// CHECK-LABEL: func.func @marked(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[K:[^:]+]]: f32)
// CHECK: %[[R:.*]]:2 = grad.checkpoint -> f32, f32 attributes {policy = "dots"} {
// CHECK: %[[TWO:.*]] = arith.constant
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[NEG:.*]] = arith.negf %[[K]]
// CHECK: %[[M:.*]] = arith.mulf %[[EXP]], %[[TWO]]
// CHECK: %[[S:.*]] = arith.addf %[[M]], %[[NEG]]
// CHECK: grad.yield %[[EXP]], %[[S]]
// CHECK: %[[SIN:.*]] = math.sin %[[R]]#0
// CHECK: return %[[SIN]], %[[R]]#1
func.func @marked(%x: f32, %k: f32) -> (f32, f32) {
  %in = grad.enter_checkpoint %x id 7 policy "dots" : f32
  %two = arith.constant 2.0 : f32
  %e = math.exp %in : f32
  %out = grad.leave_checkpoint %e id 7 : f32
  %sin = math.sin %out : f32
  %n = arith.negf %k : f32
  %m = arith.mulf %e, %two : f32
  %s = arith.addf %m, %n : f32
  %last = grad.leave_checkpoint %s id 7 : f32
  return %sin, %last : f32, f32
}

// -----

// CHECK-LABEL: func.func @nested(
// CHECK: grad.checkpoint -> f32 {
// CHECK: math.sin
// CHECK: grad.checkpoint -> f32 attributes {policy = "dots"} {
// CHECK: math.exp
// CHECK-NOT: enter_checkpoint
// CHECK-NOT: leave_checkpoint
func.func @nested(%x: f32) -> f32 {
  %o = grad.enter_checkpoint %x id 0 policy "nothing" : f32
  %a = math.sin %o : f32
  %i = grad.enter_checkpoint %a id 1 policy "dots" : f32
  %b = math.exp %i : f32
  %j = grad.leave_checkpoint %b id 1 : f32
  %p = grad.leave_checkpoint %j id 0 : f32
  return %p : f32
}

// -----

// An op between two parts of the checkpoint that reads a result of the first:
// these can be no region, and the marks go.
// CHECK-LABEL: func.func @torn(
// CHECK-NOT: grad.
// CHECK: return
func.func @torn(%x: f32) -> f32 {
  %in = grad.enter_checkpoint %x id 0 policy "nothing" : f32
  %a = math.sin %in : f32
  %out = grad.leave_checkpoint %a id 0 : f32
  %b = math.exp %out : f32
  %c = arith.addf %a, %b : f32
  %end = grad.leave_checkpoint %c id 0 : f32
  return %end : f32
}

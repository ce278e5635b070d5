// RUN: gradc-opt %s --pass-pipeline="builtin.module(func.func(grad-drop-carries),canonicalize)" | FileCheck %s

// %b is read by nobody but its own next value; %c is read by %a.
// CHECK-LABEL: func.func @f(
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[T:.*]] = arith.mulf %[[A]], %[[C]]
// CHECK: %[[V:.*]] = math.sin %[[C]]
// CHECK-NOT: math
// CHECK: scf.yield %[[T]], %[[V]]
// CHECK: return %[[R]]#0
func.func @f(%x: f32, %y: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %y) -> (f32, f32, f32) {
    %t = arith.mulf %a, %c : f32
    %u = math.exp %b : f32
    %v = math.sin %c : f32
    scf.yield %t, %u, %v : f32, f32, f32
  }
  return %r#0 : f32
}

func.func private @effect(f32)

// An op with an effect reads.
// CHECK-LABEL: func.func @g(
// CHECK: scf.for
// CHECK: math.exp
func.func @g(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    func.call @effect(%a) : (f32) -> ()
    %u = math.exp %a : f32
    scf.yield %u : f32
  }
  return
}

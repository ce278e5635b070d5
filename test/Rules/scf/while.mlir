// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The loop counts its iterations; the adjoint is that of a loop of so many.
func.func private @f(%x: f32, %limit: f32) -> f32 {
  %r = scf.while (%y = %x) : (f32) -> f32 {
    %c = arith.cmpf olt, %y, %limit : f32
    scf.condition(%c) %y : f32
  } do {
  ^bb0(%y: f32):
    %0 = arith.mulf %y, %y : f32
    scf.yield %0 : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %{{[^:]+}}: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[P:.*]]:2 = scf.while (%{{.*}} = %[[X]], %[[N:.*]] = %c0) : (f32, index) -> (f32, index)
// CHECK: scf.yield
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[P]]#1, %c0
// CHECK: %[[STACK:.*]] = tensor.empty(%[[TRIPS]])
// CHECK: %[[SAVED:.*]]:2 = scf.for %{{.*}} to %[[P]]#1 step %{{.*}} iter_args(%{{.*}} = %[[X]], %{{.*}} = %[[STACK]])
// CHECK: %[[D:.*]] = scf.for %{{.*}} to %[[TRIPS]] step %{{.*}} iter_args(%{{.*}} = %[[CT]])
// CHECK: tensor.extract %[[SAVED]]#1
// CHECK: return %[[P]]#0, %[[D]]
func.func @vjp(%x: f32, %limit: f32, %ct: f32) -> (f32, f32) {
  %r, %dx = grad.vjp @f(%x, %limit) cotangents(%ct) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %r, %dx : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %{{[^:]+}}: f32, %[[T:[^:]+]]: f32
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[X]], %{{.*}} = %[[T]])
// CHECK-NOT: scf.while
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @jvp(%x: f32, %limit: f32, %t: f32) -> (f32, f32) {
  %r, %dr = grad.jvp @f(%x, %limit) tangents(%t) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %r, %dr : f32, f32
}

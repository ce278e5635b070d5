// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The loop itself saves what the adjoint reads of each iteration; the adjoint
// goes through the iterations backwards. What the body reads from outside
// gets its cotangent from all of them.
func.func private @f(%x: f32, %w: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x) -> f32 {
    %0 = arith.mulf %y, %w : f32
    scf.yield %0 : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[W:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-DAG: %[[LAST:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<5xf32>
// CHECK: %[[P:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[Y:.*]] = %[[X]], %[[STACK:.*]] = %[[EMPTY]])
// CHECK: %[[PUSHED:.*]] = tensor.insert %[[Y]] into %[[STACK]][%[[I]]]
// CHECK: scf.yield %{{.*}}, %[[PUSHED]]
// CHECK: %[[D:.*]]:2 = scf.for %[[K:.*]] = {{.*}} iter_args(%[[DY:.*]] = %[[CT]], %[[DW:.*]] = %[[ZERO]])
// CHECK: %[[J:.*]] = arith.subi %[[LAST]], %[[K]]
// CHECK: %[[SAVED:.*]] = tensor.extract %[[P]]#1[%[[J]]]
// CHECK: arith.mulf %[[DY]], %[[SAVED]]
// CHECK: return %[[P]]#0, %[[D]]#0, %[[D]]#1
func.func @vjp(%x: f32, %w: f32, %ct: f32) -> (f32, f32, f32) {
  %r, %dx, %dw = grad.vjp @f(%x, %w) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %r, %dx, %dw : f32, f32, f32
}

// Nothing is saved where the adjoint reads nothing.
// CHECK-LABEL: func.func @nothing_saved(
// CHECK-NOT: tensor
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
func.func @nothing_saved(%x: f32, %w: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %w) cotangents(%ct) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %dx : f32
}

// Tangents are carried beside the values.
// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[W:[^:]+]]: f32, %[[T:[^:]+]]: f32
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[Y:.*]] = %[[X]], %[[TY:.*]] = %[[T]])
// CHECK: %[[V:.*]] = arith.mulf %[[Y]], %[[W]]
// CHECK: %[[TV:.*]] = arith.mulf %[[TY]], %[[W]]
// CHECK: scf.yield %[[V]], %[[TV]]
// CHECK-NOT: scf.for
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @jvp(%x: f32, %w: f32, %t: f32) -> (f32, f32) {
  %r, %dr = grad.jvp @f(%x, %w) tangents(%t) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %r, %dr : f32, f32
}

// Of a tensor that is updated in place only the elements that are read are
// saved.
func.func private @update(%v: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %v) -> tensor<64xf32> {
    %0 = tensor.extract %u[%i] : tensor<64xf32>
    %1 = math.sin %0 : f32
    %2 = tensor.insert %1 into %u[%i] : tensor<64xf32>
    scf.yield %2 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @update_vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<64xf32>, %[[N:[^:]+]]: index
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[N]]
// CHECK: tensor.empty(%[[TRIPS]]) : tensor<?xf32>
func.func @update_vjp(%v: tensor<64xf32>, %n: index, %ct: tensor<64xf32>) -> tensor<64xf32> {
  %r, %dv = grad.vjp @update(%v, %n) cotangents(%ct) wrt [0]
      : (tensor<64xf32>, index, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %dv : tensor<64xf32>
}

// A loop whose states would take too much memory runs in segments of 64.
func.func private @long(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4096xf32> {
    %0 = math.sin %y : tensor<4096xf32>
    scf.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// CHECK-LABEL: func.func @long_vjp(
// CHECK-NOT: tensor<4096x4096xf32>
// CHECK: tensor.empty() : tensor<64x4096xf32>
// CHECK-NOT: tensor<4096x4096xf32>
// CHECK: return
func.func @long_vjp(%x: tensor<4096xf32>, %ct: tensor<4096xf32>) -> tensor<4096xf32> {
  %r, %dx = grad.vjp @long(%x) cotangents(%ct) wrt [0]
      : (tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>)
  return %dx : tensor<4096xf32>
}

// What no iteration changes is read from where it was.
func.func private @passed(%x: f32, %w: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %x, %v = %w) -> (f32, f32) {
    %0 = arith.mulf %y, %v : f32
    scf.yield %0, %v : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}

// CHECK-LABEL: func.func @passed_vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %[[W:[^:]+]]: f32
// CHECK-NOT: tensor
// CHECK: arith.mulf %{{.*}}, %[[W]]
// CHECK: return
func.func @passed_vjp(%x: f32, %w: f32, %ct: f32) -> f32 {
  %r:2, %dx = grad.vjp @passed(%x, %w) cotangents(%ct, %ct) wrt [0]
      : (f32, f32, f32, f32) -> (f32, f32, f32)
  return %dx : f32
}

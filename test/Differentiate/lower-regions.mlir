// RUN: gradc-opt %s -grad-lower-regions -split-input-file | FileCheck %s

// One barrier for each value that the ops of the region read from outside, none
// for what they compute themselves, and none for what passes through.
// CHECK-LABEL: func @no_grad(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @no_grad(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[X]]
  // CHECK: %[[E:.*]] = math.exp %[[S]]
  // CHECK: %[[M:.*]] = arith.mulf %[[E]], %[[S]]
  // CHECK: return %[[M]], %[[X]]
  %r:2 = grad.no_grad -> tensor<4xf32>, tensor<4xf32> {
    %0 = math.exp %x : tensor<4xf32>
    %1 = arith.mulf %0, %x : tensor<4xf32>
    grad.yield %1, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @enable_grad(
// CHECK-SAME: %[[X:.*]]: f32)
func.func @enable_grad(%x: f32) -> f32 {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[X]]
  // CHECK: %[[E:.*]] = math.exp %[[S]]
  // CHECK: %[[M:.*]] = arith.mulf %[[E]], %[[X]]
  // CHECK: return %[[M]]
  %r = grad.no_grad -> f32 {
    %0 = math.exp %x : f32
    %1 = grad.enable_grad -> f32 {
      %2 = arith.mulf %0, %x : f32
      grad.yield %2 : f32
    }
    grad.yield %1 : f32
  }
  return %r : f32
}

// -----

// A loop that runs zero times hands its init through: the barrier is at the op
// that reads, not at the loop.
// CHECK-LABEL: func @loop(
// CHECK-SAME: %[[X:.*]]: f32, %[[N:.*]]: index)
func.func @loop(%x: f32, %n: index) -> f32 {
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]])
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[A]]
  // CHECK: math.exp %[[S]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = grad.no_grad -> f32 {
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {
      %0 = math.exp %a : f32
      scf.yield %0 : f32
    }
    grad.yield %l : f32
  }
  return %r : f32
}

// -----

// Captured values are read too; ops about gradients mean what they say.
// CHECK-LABEL: func @captures(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @captures(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[X]]
  // CHECK: tensor.generate
  // CHECK: tensor.extract %[[S]]
  // CHECK: grad.value_of %{{.*}}, %[[X]]
  %r:2 = grad.no_grad -> tensor<4xf32>, tensor<4xf32> {
    %0 = tensor.generate {
    ^bb0(%i: index):
      %1 = tensor.extract %x[%i] : tensor<4xf32>
      tensor.yield %1 : f32
    } : tensor<4xf32>
    %2 = grad.value_of %0, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    grad.yield %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The callee gets the mode of the call; its own regions obey it or undo it.
// CHECK-NOT: func private @callee(
// CHECK-LABEL: func private @callee.no_grad(
// CHECK-SAME: %[[X:.*]]: f32, %[[C:.*]]: i1)
func.func private @callee(%x: f32, %c: i1) -> f32 {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[X]]
  // CHECK: scf.execute_region
  // CHECK: math.exp %[[S]]
  // CHECK: scf.yield %[[X]] : f32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = math.exp %x : f32
  return %0 : f32
^bb2:
  return %x : f32
}

// CHECK-LABEL: func @call(
func.func @call(%x: f32, %c: i1) -> f32 {
  // CHECK: call @callee.no_grad(
  %r = grad.no_grad -> f32 {
    %0 = func.call @callee(%x, %c) : (f32, i1) -> f32
    grad.yield %0 : f32
  }
  return %r : f32
}

// -----

// A function without a body cannot be told, so its operands are stopped.
func.func private @external(f32) -> f32

// CHECK-LABEL: func @call_external(
// CHECK-SAME: %[[X:.*]]: f32)
func.func @call_external(%x: f32) -> f32 {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[X]]
  // CHECK: call @external(%[[S]])
  %r = grad.no_grad -> f32 {
    %0 = func.call @external(%x) : (f32) -> f32
    grad.yield %0 : f32
  }
  return %r : f32
}

// -----

// CHECK-LABEL: func @forall(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<1xf32>)
func.func @forall(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = grad.stop_gradient %[[Y]]
  // CHECK: scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %[[X]])
  // CHECK: tensor.parallel_insert_slice %[[S]] into %[[OUT]]
  %r = grad.no_grad -> tensor<4xf32> {
    %0 = scf.forall (%i) in (4) shared_outs(%out = %x) -> (tensor<4xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    grad.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

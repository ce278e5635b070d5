// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The loops that it stands for, backwards.
func.func private @f(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
    %a = tensor.extract %x[%i] : tensor<4xf32>
    %e = math.exp %a : f32
    scf.reduce(%e : f32) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: f32
// CHECK: %[[DX:.*]] = scf.for %{{.*}} iter_args(%[[D:.*]] = %{{.*}}) -> (tensor<4xf32>)
// CHECK: %[[A:.*]] = tensor.extract %[[X]]
// CHECK: %[[EXP:.*]] = math.exp %[[A]]
// CHECK: %[[T:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[T]]
// CHECK: tensor.insert %[[SUM]] into %[[D]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %ct: f32) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, f32) -> (f32, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = scf.for %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (f32)
// CHECK: tensor.extract %[[TX]]
// CHECK: arith.addf %[[T]],
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (f32, f32)
  return %dr : f32
}

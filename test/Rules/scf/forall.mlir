// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The loops that it stands for, backwards.
func.func private @f(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4x3xf32> {
    %a = tensor.extract_slice %o[%i, 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<1x3xf32>
    %b = math.exp %a : tensor<1x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%i, 0] [1, 3] [1, 1]
          : tensor<1x3xf32> into tensor<4x3xf32>
    }
  }
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[D:.*]]:2 = scf.for %{{.*}} iter_args(%[[C:.*]] = %[[CT]], %[[DX:.*]] = %{{.*}})
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[EXP:.*]] = math.exp %[[SLICE]]
// CHECK: %[[CSLICE:.*]] = tensor.extract_slice %[[C]]
// CHECK: %[[HOLE:.*]] = tensor.insert_slice %{{.*}} into %[[C]]
// CHECK: %[[T:.*]] = arith.mulf %[[CSLICE]], %[[EXP]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[T]] :
// CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[SUM]] into %[[DX]]
// CHECK: scf.yield %[[HOLE]], %[[NEXT]]
// CHECK: linalg.generic {{.*}} ins(%[[D]]#0 : {{.*}}) outs(%[[D]]#1 :
func.func @vjp(%x: tensor<4x3xf32>, %ct: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DR:.*]] = scf.for %{{.*}} iter_args(%[[T:.*]] = %[[TX]])
// CHECK: tensor.extract_slice %[[TX]]
// CHECK: tensor.insert_slice %{{.*}} into %[[T]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

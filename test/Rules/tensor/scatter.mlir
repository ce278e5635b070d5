// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// One insertion after the other, backwards.
func.func private @f(%x: tensor<2x3xf32>, %d: tensor<4x3xf32>, %i: tensor<2x1xindex>)
    -> tensor<4x3xf32> {
  %r = tensor.scatter %x into %d[%i] scatter_dims([0]) unique
      : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[I:[^:]+]]: tensor<2x1xindex>, %[[CT:[^:]+]]: tensor<4x3xf32>)
// CHECK: %[[D:.*]]:2 = scf.for %{{.*}} iter_args(%[[DD:.*]] = %[[CT]], %[[DX:.*]] = %{{.*}})
// CHECK: %[[ROW:.*]] = tensor.extract %[[I]]
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[DD]][%[[ROW]], 0] [1, 3]
// CHECK: %[[HOLE:.*]] = tensor.insert_slice %{{.*}} into %[[DD]][%[[ROW]], 0] [1, 3]
// CHECK: tensor.insert_slice %{{.*}} into %[[DX]]
// CHECK: return %[[D]]#1, %[[D]]#0
func.func @vjp(%x: tensor<2x3xf32>, %d: tensor<4x3xf32>, %i: tensor<2x1xindex>,
               %ct: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %r, %dx, %dd = grad.vjp @f(%x, %d, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x1xindex>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>)
  return %dx, %dd : tensor<2x3xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[I:[^:]+]]: tensor<2x1xindex>, %[[TX:[^:]+]]: tensor<2x3xf32>, %[[TD:[^:]+]]: tensor<4x3xf32>)
// CHECK: %[[DR:.*]] = scf.for %{{.*}} iter_args(%[[T:.*]] = %[[TD]])
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[TX]]
// CHECK: tensor.insert_slice %[[SLICE]] into %[[T]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x3xf32>, %d: tensor<4x3xf32>, %i: tensor<2x1xindex>,
               %tx: tensor<2x3xf32>, %td: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x, %d, %i) tangents(%tx, %td) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x1xindex>, tensor<2x3xf32>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

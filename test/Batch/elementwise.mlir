// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope | FileCheck %s

func.func private @tensors(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<f32>)
    -> tensor<4xf32> {
  %scalar = tensor.extract %s[] : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpf ogt, %scalar, %zero : f32
  %r = arith.select %c, %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// A scalar that depends on the row is a tensor of rank 1, read once a row.
// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x4xf32>, %[[Y:[^:]+]]: tensor<4xf32>, %[[S:[^:]+]]: tensor<5xf32>
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<5xf32>)
// CHECK: arith.cmpf ogt
// CHECK: -> tensor<5xi1>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]{{.*}} ins(%[[C]], %[[X]], %[[Y]] :
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @select(%x: tensor<5x4xf32>, %y: tensor<4xf32>, %s: tensor<5xf32>)
    -> tensor<5x4xf32> {
  %r = grad.vmap @tensors(%x, %y, %s) batched [0, 2] size 5
      : (tensor<5x4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

func.func private @barrier(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = grad.value_of %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @value_of(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x4xf32>, %[[Y:[^:]+]]: tensor<5x4xf32>
// CHECK: grad.value_of %[[X]], %[[Y]] : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<5x4xf32>
func.func @value_of(%x: tensor<5x4xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %r = grad.vmap @barrier(%x, %y) batched [0, 1] size 5
      : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

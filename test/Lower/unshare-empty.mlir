// RUN: gradc-opt %s --grad-unshare-empty | FileCheck %s

// CHECK-LABEL: func @two
// CHECK: %[[A:.*]] = tensor.empty
// CHECK: linalg.fill {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = tensor.empty
// CHECK: linalg.fill {{.*}} outs(%[[B]]
func.func @two(%c: f32, %d: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.fill ins(%d : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @fill
// CHECK: linalg.fill
// CHECK: tensor.insert
// CHECK: linalg.fill
// CHECK: tensor.insert
func.func @fill(%c: f32, %i: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = tensor.insert %c into %x[%i] : tensor<4xf32>
  %b = tensor.insert %c into %x[%i] : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// An argument is a tensor of its own for each use, outside the bodies that read
// it.
// CHECK-LABEL: func @argument
// CHECK: %[[A:.*]] = bufferization.to_tensor
// CHECK: %[[B:.*]] = bufferization.to_tensor
// CHECK: linalg.generic {{.*}} outs(%[[A]]
// CHECK: tensor.extract %[[B]]
func.func @argument(%m: memref<4xf32>, %i: index) -> tensor<4xf32> {
  %x = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<4xf32>) {
  ^bb0(%out: f32):
    %e = tensor.extract %x[%i] : tensor<4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

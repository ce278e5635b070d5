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

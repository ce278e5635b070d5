// RUN: gradc-opt %s -grad-infer-requires-grad -canonicalize -cse -grad-infer-requires-grad | FileCheck %s
// RUN: gradc-opt %s -grad-infer-requires-grad -canonicalize -cse -grad-infer-requires-grad -grad-check-requires-grad -o /dev/null

// Canonicalization makes this a plain concat with casts around it. No gradient
// is lost with the types.
// CHECK-LABEL: func @concat(
// CHECK-SAME: -> tensor<6xf32, #grad.requires_grad>
func.func @concat(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<2xf32>) -> tensor<6xf32> {
  // CHECK: tensor.concat {{.*}} -> tensor<6xf32, #grad.requires_grad>
  // CHECK-NOT: tensor.cast
  %0 = tensor.concat dim(0) %x, %k : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// An identity generic from carrying to carrying is removed, the barrier is not.
// CHECK-LABEL: func @identity(
// CHECK-SAME: -> tensor<4xf32> {
func.func @identity(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  // CHECK-NEXT: grad.stop_gradient
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %1 = grad.stop_gradient %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

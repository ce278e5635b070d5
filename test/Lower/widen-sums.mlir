// RUN: gradc-opt %s --grad-widen-sums | FileCheck %s

// The accumulator is f32, and the result is rounded once.
// CHECK-LABEL: func @sum
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8xbf16>) outs(%{{.*}} : tensor<f32>)
// CHECK: ^bb0(%[[X:.*]]: bf16, %[[ACC:.*]]: f32)
// CHECK: %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK: arith.addf %[[ACC]], %[[W]] : f32
// CHECK: arith.truncf %{{.*}} : tensor<f32> to tensor<bf16>
func.func @sum(%x: tensor<8xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<8xbf16>) outs(%init : tensor<bf16>) {
  ^bb0(%a: bf16, %acc: bf16):
    %s = arith.addf %acc, %a : bf16
    linalg.yield %s : bf16
  } -> tensor<bf16>
  return %r : tensor<bf16>
}

// Factors of a contraction become f32 tensors.
// CHECK-LABEL: func @outer
// CHECK: arith.extf %{{.*}} : tensor<4x3xf16> to tensor<4x3xf32>
// CHECK: arith.extf %{{.*}} : tensor<3x5xf16> to tensor<3x5xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x5xf32>)
// CHECK: arith.truncf %{{.*}} : tensor<4x5xf32> to tensor<4x5xf16>
func.func @outer(%a: tensor<4x3xf16>, %b: tensor<3x5xf16>, %init: tensor<4x5xf16>) -> tensor<4x5xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x3xf16>, tensor<3x5xf16>) outs(%init : tensor<4x5xf16>) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %acc, %p : f16
    linalg.yield %s : f16
  } -> tensor<4x5xf16>
  return %r : tensor<4x5xf16>
}

// A plain sum of f32 accumulates in f64, from a filled tensor of that type.
// CHECK-LABEL: func @single
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<f64>)
// CHECK: linalg.generic {{.*}} outs(%[[ZERO]] : tensor<f64>)
// CHECK: arith.truncf %{{.*}} : tensor<f64> to tensor<f32>
func.func @single(%x: tensor<8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A matrix product is left to BLAS.
// CHECK-LABEL: func @product
// CHECK-NOT: f64
func.func @product(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>, %init: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x3xf32>, tensor<3x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

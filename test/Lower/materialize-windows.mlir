// RUN: gradc-opt %s --grad-materialize-windows | FileCheck %s

#window = affine_map<(n, f, o, c, k) -> (n, c, o * 2 + k)>
#filter = affine_map<(n, f, o, c, k) -> (f, c, k)>
#result = affine_map<(n, f, o, c, k) -> (n, f, o)>

// What a convolution reads becomes a tensor of windows: whole dimensions,
// then positions inside the window, then the positions of the window.
// CHECK-LABEL: func @forward
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x17xf32>, %[[W:.*]]: tensor<16x3x3xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%{{.*}} : tensor<2x3x3x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[W]]
// CHECK: arith.mulf
func.func @forward(%x: tensor<2x3x17xf32>, %w: tensor<16x3x3xf32>, %init: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %r = linalg.generic {indexing_maps = [#window, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x3x17xf32>, tensor<16x3x3xf32>) outs(%init : tensor<2x16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x16x8xf32>
  return %r : tensor<2x16x8xf32>
}

// The gradient of the input writes windows: a product first, then their sum.
// CHECK-LABEL: func @input_gradient
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x3x8xf32>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%[[P]] : {{.*}}) outs(%{{.*}} : tensor<2x3x17xf32>)
// CHECK: arith.addf
func.func @input_gradient(%ct: tensor<2x16x8xf32>, %w: tensor<16x3x3xf32>, %init: tensor<2x3x17xf32>) -> tensor<2x3x17xf32> {
  %r = linalg.generic {indexing_maps = [#result, #filter, #window],
      iterator_types = ["reduction", "reduction", "reduction", "reduction", "reduction"]}
      ins(%ct, %w : tensor<2x16x8xf32>, tensor<16x3x3xf32>) outs(%init : tensor<2x3x17xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x17xf32>
  return %r : tensor<2x3x17xf32>
}

// One channel of output uses each element once: the copy would not pay.
// CHECK-LABEL: func @little_reuse
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @little_reuse(%x: tensor<2x3x17xf32>, %w: tensor<1x3x3xf32>, %init: tensor<2x1x8xf32>) -> tensor<2x1x8xf32> {
  %r = linalg.generic {indexing_maps = [#window, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x3x17xf32>, tensor<1x3x3xf32>) outs(%init : tensor<2x1x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x1x8xf32>
  return %r : tensor<2x1x8xf32>
}

// RUN: gradc-opt %s --mlir-print-local-scope \
// RUN:     --pass-pipeline='builtin.module(func.func(grad-gather-windows))' \
// RUN:   | FileCheck %s

#moving = affine_map<(d0, d1) -> (d0)>
#inner = affine_map<(d0, d1) -> (d1)>

// dx[2 p + 3 q] += ct[p] * w[q] becomes dx[x] += ct'[x + 3 q] * w'[q]: the
// cotangent is spread by 2 behind a margin of 3 * (2 - 1) zeros, the filter
// reversed. The loop over positions is parallel, what is there is added to.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[CT:[^:]+]]: tensor<5xf32>, %[[W:[^:]+]]: tensor<2xf32>,
// CHECK-SAME: %[[DX:[^:]+]]: tensor<12xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<15xf32>
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %[[CT]] into %[[ZEROS]][3] [5] [2]
// CHECK: %[[REVERSED:.*]] = linalg.generic
// CHECK-SAME: affine_map<(d0) -> (-d0 + 1)>
// CHECK-SAME: ins(%[[W]] :
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: affine_map<(d0, d1) -> (d0 + d1 * 3)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%[[SPREAD]], %[[REVERSED]] : {{.*}}) outs(%[[DX]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[R]]
func.func @strided(%ct: tensor<5xf32>, %w: tensor<2xf32>, %dx: tensor<12xf32>)
    -> tensor<12xf32> {
  %r = linalg.generic {
      indexing_maps = [#moving, #inner,
                       affine_map<(d0, d1) -> (d0 * 2 + d1 * 3)>],
      iterator_types = ["reduction", "reduction"]
  } ins(%ct, %w : tensor<5xf32>, tensor<2xf32>) outs(%dx : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// The sum is symmetric: whichever comes first, the smaller operand becomes the
// window.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME: %[[W:[^:]+]]: tensor<2xf32>, %[[CT:[^:]+]]: tensor<5xf32>
// CHECK: tensor.insert_slice %[[CT]] into
// CHECK: linalg.generic {{.*}} ins(%[[W]] :
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
func.func @swapped(%w: tensor<2xf32>, %ct: tensor<5xf32>, %dx: tensor<6xf32>)
    -> tensor<6xf32> {
  %r = linalg.generic {
      indexing_maps = [#inner, #moving, affine_map<(d0, d1) -> (d0 + d1)>],
      iterator_types = ["reduction", "reduction"]
  } ins(%w, %ct : tensor<2xf32>, tensor<5xf32>) outs(%dx : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// Positions that do not overlap are left alone.
// CHECK-LABEL: func.func @matvec(
// CHECK-NEXT: linalg.generic
func.func @matvec(%a: tensor<4x3xf32>, %x: tensor<3xf32>, %y: tensor<4xf32>)
    -> tensor<4xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, #inner, #moving],
      iterator_types = ["parallel", "reduction"]
  } ins(%a, %x : tensor<4x3xf32>, tensor<3xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// So are sums of anything but products.
// CHECK-LABEL: func.func @quotient(
// CHECK-NEXT: linalg.generic
func.func @quotient(%ct: tensor<5xf32>, %w: tensor<2xf32>, %dx: tensor<6xf32>)
    -> tensor<6xf32> {
  %r = linalg.generic {
      indexing_maps = [#moving, #inner, affine_map<(d0, d1) -> (d0 + d1)>],
      iterator_types = ["reduction", "reduction"]
  } ins(%ct, %w : tensor<5xf32>, tensor<2xf32>) outs(%dx : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// A factor from outside is not spread with zeros: the nest stays.
// CHECK-LABEL: func.func @capture(
// CHECK-NEXT: linalg.generic
func.func @capture(%ct: tensor<5xf32>, %w: tensor<2xf32>, %dx: tensor<6xf32>,
                   %s: f32) -> tensor<6xf32> {
  %r = linalg.generic {
      indexing_maps = [#moving, #inner, affine_map<(d0, d1) -> (d0 + d1)>],
      iterator_types = ["reduction", "reduction"]
  } ins(%ct, %w : tensor<5xf32>, tensor<2xf32>) outs(%dx : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %b, %s : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

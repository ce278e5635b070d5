// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope | FileCheck %s

func.func private @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>)
    -> tensor<2x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
      outs(%i : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// One loop more, over what is batched; the initial value is filled for all rows.
// CHECK-LABEL: func.func @contraction(
// CHECK-SAME: %[[A:[^:]+]]: tensor<5x2x3xf32>, %[[B:[^:]+]]: tensor<3x4xf32>
// CHECK: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<5x2x4xf32>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[INIT]] :
func.func @contraction(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>)
    -> tensor<5x2x4xf32> {
  %r = grad.vmap @matmul(%a, %b) batched [0] size 5
      : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// What no row changes is computed once.
// CHECK-LABEL: func.func @unbatched(
// CHECK: linalg.matmul {{.*}} -> tensor<2x4xf32>
// CHECK: linalg.generic
// CHECK: -> tensor<5x2x4xf32>
func.func @unbatched(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>)
    -> tensor<5x2x4xf32> {
  %r = grad.vmap @matmul(%a, %b) batched [] size 5
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

func.func private @body(%t: tensor<8x4xf32>, %x: tensor<4xi64>, %s: tensor<f32>)
    -> tensor<4xf32> {
  %scale = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%n: i64, %o: f32):
    %i = arith.index_cast %n : i64 to index
    %j = linalg.index 0 : index
    %v = tensor.extract %t[%i, %j] : tensor<8x4xf32>
    %w = arith.mulf %v, %scale : f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The body reads its row of what it captures; a captured scalar is an operand.
// CHECK-LABEL: func.func @captures(
// CHECK-SAME: %[[T:[^:]+]]: tensor<5x8x4xf32>, %[[X:[^:]+]]: tensor<4xi64>, %[[S:[^:]+]]: tensor<5xf32>
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[S]] :
// CHECK: ^bb0(%[[N:.*]]: i64, %[[SCALE:.*]]: f32,
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[I:.*]] = arith.index_cast %[[N]]
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[V:.*]] = tensor.extract %[[T]][%[[ROW]], %[[I]], %[[J]]]
// CHECK: arith.mulf %[[V]], %[[SCALE]]
func.func @captures(%t: tensor<5x8x4xf32>, %x: tensor<4xi64>, %s: tensor<5xf32>)
    -> tensor<5x4xf32> {
  %r = grad.vmap @body(%t, %x, %s) batched [0, 2] size 5
      : (tensor<5x8x4xf32>, tensor<4xi64>, tensor<5xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

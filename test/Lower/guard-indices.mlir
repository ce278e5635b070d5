// RUN: gradc-opt %s --grad-guard-indices | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The row comes from data, the column from the loop.
// CHECK-LABEL: func @rows
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[OK:.*]] = arith.cmpi ult, %[[I]], %{{.*}} : index
// CHECK-NEXT: cf.assert %[[OK]], "index out of range"
// CHECK-NOT: cf.assert
// CHECK: tensor.extract
func.func @rows(%table: tensor<5x2xf32>, %rows: tensor<3xi64>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<3xi64>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%row: i64, %out: f32):
    %i = arith.index_cast %row : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<5x2xf32>
    linalg.yield %x : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// An index that is checked already is left alone.
// CHECK-LABEL: func @checked
// CHECK: cf.assert %{{.*}}, "mine"
// CHECK-NOT: cf.assert
// CHECK: tensor.extract
func.func @checked(%table: tensor<5xf32>, %rows: tensor<3xi64>) -> tensor<3xf32> {
  %c5 = arith.constant 5 : i64
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%rows : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%row: i64, %out: f32):
    %ok = arith.cmpi ult, %row, %c5 : i64
    cf.assert %ok, "mine"
    %i = arith.index_cast %row : i64 to index
    %x = tensor.extract %table[%i] : tensor<5xf32>
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

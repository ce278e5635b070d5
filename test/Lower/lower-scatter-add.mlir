// RUN: gradc-opt %s --grad-lower-scatter-add | FileCheck %s

// One loop a bound; the innermost one inserts into what it carries.
// CHECK-LABEL: func @rows
// CHECK-SAME: (%[[ROWS:.*]]: tensor<6xi64>, %[[CT:.*]]: tensor<6x4xf64>, %[[INIT:.*]]: tensor<10x4xf64>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[INIT]])
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[B:.*]] = %[[A]])
// CHECK: %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[I]]]
// CHECK: %[[V:.*]] = tensor.extract %[[CT]][%[[I]], %[[J]]]
// CHECK: %[[K:.*]] = arith.index_cast %[[ROW]]
// CHECK: %[[OLD:.*]] = tensor.extract %[[B]][%[[K]], %[[J]]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[V]]
// CHECK: tensor.insert %[[NEW]] into %[[B]][%[[K]], %[[J]]]
func.func @rows(%rows: tensor<6xi64>, %ct: tensor<6x4xf64>, %init: tensor<10x4xf64>) -> tensor<10x4xf64> {
  %r = grad.scatter_add bounds [6, 4] ins(%rows, %ct : tensor<6xi64>, tensor<6x4xf64>)
      maps [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
      into %init : tensor<10x4xf64> {
  ^bb0(%row: i64, %value: f64):
    %i = arith.index_cast %row : i64 to index
    %j = grad.loop_index 1
    grad.yield %i, %j, %value : index, index, f64
  }
  return %r : tensor<10x4xf64>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope | FileCheck %s

func.func private @scatter(%i: tensor<4xi64>, %x: tensor<4xf32>, %into: tensor<8xf32>)
    -> tensor<8xf32> {
  %r = grad.scatter_add bounds [4] ins(%i : tensor<4xi64>)
      maps [affine_map<(d0) -> (d0)>] into %into : tensor<8xf32> {
  ^bb0(%n: i64):
    %at = arith.index_cast %n : i64 to index
    %j = grad.loop_index 0
    %v = tensor.extract %x[%j] : tensor<4xf32>
    grad.yield %at, %v : index, f32
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[I:[^:]+]]: tensor<4xi64>, %[[X:[^:]+]]: tensor<5x4xf32>,
// CHECK: grad.scatter_add bounds [5, 4] ins(%[[I]] : tensor<4xi64>) maps [affine_map<(d0, d1) -> (d1)>] into %{{.*}} : tensor<5x8xf32>
// CHECK: ^bb0(%[[N:.*]]: i64):
// CHECK: %[[ROW:.*]] = grad.loop_index 0
// CHECK: %[[AT:.*]] = arith.index_cast %[[N]]
// CHECK: %[[J:.*]] = grad.loop_index 1
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[ROW]], %[[J]]]
// CHECK: grad.yield %{{.*}}, %[[AT]], %[[V]]
func.func @rows(%i: tensor<4xi64>, %x: tensor<5x4xf32>, %into: tensor<8xf32>)
    -> tensor<5x8xf32> {
  %r = grad.vmap @scatter(%i, %x, %into) batched [1] size 5
      : (tensor<4xi64>, tensor<5x4xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

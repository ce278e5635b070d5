// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope | FileCheck %s

func.func private @slices(%x: tensor<3x4xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %r = tensor.insert_slice %y into %s[0] [2] [2] : tensor<2xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x3x4xf32>, %[[Y:[^:]+]]: tensor<5x2xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 1, 0] [5, 1, 4] [1, 1, 1] : tensor<5x3x4xf32> to tensor<5x4xf32>
// CHECK: tensor.insert_slice %[[Y]] into %[[S]][0, 0] [5, 2] [1, 2]
func.func @slice(%x: tensor<5x3x4xf32>, %y: tensor<5x2xf32>) -> tensor<5x4xf32> {
  %r = grad.vmap @slices(%x, %y) batched [0, 1] size 5
      : (tensor<5x3x4xf32>, tensor<5x2xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

func.func private @computed(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %k = tensor.extract %n[] : tensor<i64>
  %i = arith.index_cast %k : i64 to index
  %s = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

// A position that the row decides on makes a gather.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x4xf32>,
// CHECK: linalg.generic
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: tensor.extract %[[X]][%[[ROW]], %[[AT]]]
func.func @gather(%x: tensor<5x4xf32>, %n: tensor<5xi64>) -> tensor<5x2xf32> {
  %r = grad.vmap @computed(%x, %n) batched [0, 1] size 5
      : (tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

func.func private @shapes(%x: tensor<2x6xf32>, %y: tensor<2x1xf32>) -> tensor<2x4x2xf32> {
  %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 3, 2]
      : tensor<2x6xf32> into tensor<2x3x2xf32>
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %y low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<2x1xf32> to tensor<2x2xf32>
  %f = tensor.expand_shape %p [[0], [1, 2]] output_shape [2, 1, 2]
      : tensor<2x2xf32> into tensor<2x1x2xf32>
  %r = tensor.concat dim(1) %e, %f
      : (tensor<2x3x2xf32>, tensor<2x1x2xf32>) -> tensor<2x4x2xf32>
  return %r : tensor<2x4x2xf32>
}

// CHECK-LABEL: func.func @shape(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x2x6xf32>, %[[Y:[^:]+]]: tensor<5x2x1xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [5, 2, 3, 2]
// CHECK: %[[P:.*]] = tensor.pad %[[Y]] low[0, 0, 1] high[0, 0, 0]
// CHECK: %[[F:.*]] = tensor.expand_shape %[[P]]
// CHECK: tensor.concat dim(2) %[[E]], %[[F]]
func.func @shape(%x: tensor<5x2x6xf32>, %y: tensor<5x2x1xf32>) -> tensor<5x2x4x2xf32> {
  %r = grad.vmap @shapes(%x, %y) batched [0, 1] size 5
      : (tensor<5x2x6xf32>, tensor<5x2x1xf32>) -> tensor<5x2x4x2xf32>
  return %r : tensor<5x2x4x2xf32>
}

func.func private @elements(%x: tensor<4xf32>) -> tensor<2xf32> {
  %c = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %s = tensor.extract %x[%c] : tensor<4xf32>
  %r = tensor.from_elements %z, %s : tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @element(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x4xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 3] [5, 1] [1, 1] : tensor<5x4xf32> to tensor<5xf32>
// CHECK: tensor.insert_slice %[[S]] into %{{.*}}[0, 1] [5, 1] [1, 1] : tensor<5xf32> into tensor<5x2xf32>
func.func @element(%x: tensor<5x4xf32>) -> tensor<5x2xf32> {
  %r = grad.vmap @elements(%x) batched [0] size 5
      : (tensor<5x4xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

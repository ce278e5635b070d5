// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// A pad, a reshape and a transposition.
func.func private @f(%x: tensor<3x4xf32>) -> tensor<2x2x2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x2x2xf32>
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2]
      into %e : tensor<3x4xf32> -> tensor<2x2x2x2xf32>
  return %r : tensor<2x2x2x2xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[CT:[^:]+]]: tensor<2x2x2x2xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[CT]] :
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[T]] {{\[\[}}0, 1], [2, 3]]
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[FLAT]][0, 0] [3, 4] [1, 1]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<3x4xf32>, %ct: tensor<2x2x2x2xf32>) -> tensor<3x4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<3x4xf32>, tensor<2x2x2x2xf32>) -> (tensor<2x2x2x2xf32>, tensor<3x4xf32>)
  return %dx : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[TX:[^:]+]]: tensor<3x4xf32>)
// CHECK: %[[PADDED:.*]] = tensor.pad %[[TX]] low[0, 0] high[1, 0]
// CHECK: %[[TILES:.*]] = tensor.expand_shape %[[PADDED]]
// CHECK: %[[DR:.*]] = linalg.generic {{.*}} ins(%[[TILES]] :
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<3x4xf32>, %tx: tensor<3x4xf32>) -> tensor<2x2x2x2xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>)
  return %dr : tensor<2x2x2x2xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// A transposition, a reshape and a slice.
func.func private @f(%x: tensor<2x2x2x2xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2]
      into %e : tensor<2x2x2x2xf32> -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[CT:[^:]+]]: tensor<3x4xf32>)
// CHECK: %[[FLAT:.*]] = tensor.insert_slice %[[CT]] into %{{.*}}[0, 0] [3, 4] [1, 1]
// CHECK: %[[TILES:.*]] = tensor.expand_shape %[[FLAT]]
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[TILES]] :
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<2x2x2x2xf32>, %ct: tensor<3x4xf32>) -> tensor<2x2x2x2xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<2x2x2x2xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<2x2x2x2xf32>)
  return %dx : tensor<2x2x2x2xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[TX:[^:]+]]: tensor<2x2x2x2xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[TX]] :
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[T]]
// CHECK: %[[DR:.*]] = tensor.extract_slice %[[FLAT]][0, 0] [3, 4] [1, 1]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x2x2x2xf32>, %tx: tensor<2x2x2x2xf32>) -> tensor<3x4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return %dr : tensor<3x4xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#unit = affine_map<(d0, d1) -> (d0, 0)>
#zero = affine_map<(d0, d1) -> (0, 0)>

// A loop that the operand does not follow becomes a reduction.
func.func private @f(%x: tensor<3xf32>, %y: tensor<4x3xf32>)
    -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {
      indexing_maps = [#col, #id, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%x, %y : tensor<3xf32>, tensor<4x3xf32>)
    outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<3xf32>, %[[Y:[^:]+]]: tensor<4x3xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%[[Y]], %[[CT]] : {{.*}} outs(%[[ZEROS]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<3xf32>, %y: tensor<4x3xf32>, %ct: tensor<4x3xf32>)
    -> tensor<3xf32> {
  %r, %dx = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0]
      : (tensor<3xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<3xf32>)
  return %dx : tensor<3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<3xf32>, %[[Y:[^:]+]]: tensor<4x3xf32>,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<3xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[Y]], %[[TX]] :
// CHECK: arith.mulf
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<3xf32>, %y: tensor<4x3xf32>, %tx: tensor<3xf32>)
    -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx) wrt [0]
      : (tensor<3xf32>, tensor<4x3xf32>, tensor<3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

// A dimension of size one that is read at position 0 is summed over too, and
// put back.
func.func private @unit(%x: tensor<4x1xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {
      indexing_maps = [#unit, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<4x1xf32>)
    outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp_unit(
// CHECK-SAME: %{{[^:]+}}: tensor<4x1xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%[[CT]] :
// CHECK: arith.addf
// CHECK: %[[DX:.*]] = tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]] output_shape [4, 1]
// CHECK: return %[[DX]]
func.func @vjp_unit(%x: tensor<4x1xf32>, %ct: tensor<4x3xf32>)
    -> tensor<4x1xf32> {
  %r, %dx = grad.vjp @unit(%x) cotangents(%ct) wrt [0]
      : (tensor<4x1xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x1xf32>)
  return %dx : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @jvp_unit(
// CHECK-SAME: %{{[^:]+}}: tensor<4x1xf32>, %[[TX:[^:]+]]: tensor<4x1xf32>
// CHECK: %[[DR:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[TX]] :
// CHECK: return %[[DR]]
func.func @jvp_unit(%x: tensor<4x1xf32>, %tx: tensor<4x1xf32>)
    -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @unit(%x) tangents(%tx) wrt [0]
      : (tensor<4x1xf32>, tensor<4x1xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

// An operand of one element is summed over every loop.
func.func private @all(%x: tensor<1x1xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {
      indexing_maps = [#zero, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<1x1xf32>)
    outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp_all(
// CHECK-SAME: %{{[^:]+}}: tensor<1x1xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]} ins(%[[CT]] :
// CHECK: arith.addf
// CHECK: %[[DX:.*]] = tensor.expand_shape %[[SUM]] [] output_shape [1, 1]
// CHECK: return %[[DX]]
func.func @vjp_all(%x: tensor<1x1xf32>, %ct: tensor<4x3xf32>)
    -> tensor<1x1xf32> {
  %r, %dx = grad.vjp @all(%x) cotangents(%ct) wrt [0]
      : (tensor<1x1xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<1x1xf32>)
  return %dx : tensor<1x1xf32>
}

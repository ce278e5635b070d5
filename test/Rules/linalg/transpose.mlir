// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
#one = affine_map<(d0) -> (d0)>
#diagonal = affine_map<(d0) -> (d0, d0)>

// The adjoint writes at the positions that the op reads.
func.func private @f(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {
      indexing_maps = [#t, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<3x4xf32>)
    outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<3x4xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%[[CT]] :
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<3x4xf32>, %ct: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<3x4xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>)
  return %dx : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<3x4xf32>, %[[TX:[^:]+]]: tensor<3x4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[TX]] :
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<3x4xf32>, %tx: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

// Where two dimensions are read by one loop, the adjoint adds to the diagonal of
// zeros.
func.func private @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#diagonal, #one],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4x4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_diagonal(
// CHECK-SAME: %{{[^:]+}}: tensor<4x4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>], iterator_types = ["reduction"]} ins(%[[CT]] : {{.*}} outs(%[[ZEROS]] :
// CHECK: arith.addf
// CHECK: return %[[DX]]
func.func @vjp_diagonal(%x: tensor<4x4xf32>, %ct: tensor<4xf32>)
    -> tensor<4x4xf32> {
  %r, %dx = grad.vjp @diagonal(%x) cotangents(%ct) wrt [0]
      : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  return %dx : tensor<4x4xf32>
}


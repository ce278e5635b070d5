// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// An elementwise named op.
func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
    -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_exp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[R:.*]] = linalg.exp ins(%[[X]] :
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[CT]] :
// CHECK: return %[[DX]]
func.func @vjp_exp(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @exp(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp_exp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[TX]] :
// CHECK: math.exp
// CHECK: return %[[DR]]
func.func @jvp_exp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @exp(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// linalg.map
func.func private @map(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.map { arith.mulf } ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_map(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: return %[[DX]]
func.func @vjp_map(%x: tensor<4xf32>, %y: tensor<4xf32>, %ct: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dx = grad.vjp @map(%x, %y) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// linalg.reduce
func.func private @reduce(%x: tensor<4x3xf32>, %i: tensor<4xf32>)
    -> tensor<4xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x3xf32>) outs(%i : tensor<4xf32>)
    dimensions = [1]
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_reduce(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[CT]] :
// CHECK: return %[[DX]], %[[CT]]
func.func @vjp_reduce(%x: tensor<4x3xf32>, %i: tensor<4xf32>,
                      %ct: tensor<4xf32>)
    -> (tensor<4x3xf32>, tensor<4xf32>) {
  %r, %dx, %di = grad.vjp @reduce(%x, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4x3xf32>, tensor<4xf32>)
  return %dx, %di : tensor<4x3xf32>, tensor<4xf32>
}

// linalg.broadcast
func.func private @broadcast(%x: tensor<4xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x3xf32>) dimensions = [1]
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp_broadcast(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[CT]] :
// CHECK: arith.addf
// CHECK: return %[[DX]]
func.func @vjp_broadcast(%x: tensor<4xf32>, %ct: tensor<4x3xf32>)
    -> tensor<4xf32> {
  %r, %dx = grad.vjp @broadcast(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// linalg.transpose
func.func private @transpose(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>)
    permutation = [1, 0]
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp_transpose(
// CHECK-SAME: %{{[^:]+}}: tensor<3x4xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%[[CT]] :
// CHECK: return %[[DX]]
func.func @vjp_transpose(%x: tensor<3x4xf32>, %ct: tensor<4x3xf32>)
    -> tensor<3x4xf32> {
  %r, %dx = grad.vjp @transpose(%x) cotangents(%ct) wrt [0]
      : (tensor<3x4xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>)
  return %dx : tensor<3x4xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// Both adjoints are contractions: ct * transposed b, transposed a * ct.
func.func private @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>,
                     %i: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%i : tensor<2x4xf32>)
      -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x3xf32>, %[[B:[^:]+]]: tensor<3x4xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<2x4xf32>, %[[CT:[^:]+]]: tensor<2x4xf32>
// CHECK: %[[DA:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[B]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[DB:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[A]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[DA]], %[[DB]]
func.func @vjp(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<2x4xf32>,
               %ct: tensor<2x4xf32>)
    -> (tensor<2x3xf32>, tensor<3x4xf32>) {
  %r, %da, %db = grad.vjp @f(%a, %b, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>)
  return %da, %db : tensor<2x3xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x3xf32>, %[[B:[^:]+]]: tensor<3x4xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<2x4xf32>, %[[TA:[^:]+]]: tensor<2x3xf32>,
// CHECK-SAME: %[[TB:[^:]+]]: tensor<3x4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]], %[[TA]], %[[TB]] :
// CHECK-COUNT-2: arith.mulf
// CHECK-COUNT-2: arith.addf
// CHECK: return %[[DR]]
func.func @jvp(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<2x4xf32>,
               %ta: tensor<2x3xf32>, %tb: tensor<3x4xf32>)
    -> tensor<2x4xf32> {
  %r, %dr = grad.jvp @f(%a, %b, %i) tangents(%ta, %tb) wrt [0, 1]
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>)
      -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return %dr : tensor<2x4xf32>
}

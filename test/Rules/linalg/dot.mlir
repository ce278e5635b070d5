// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The adjoint by one vector is the other, scaled.
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<f32>)
    -> tensor<f32> {
  %r = linalg.dot ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>)
    -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<f32>, %[[CT:[^:]+]]: tensor<f32>
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%[[Y]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: %[[DY:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<f32>,
               %ct: tensor<f32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %r, %dx, %dy = grad.vjp @f(%x, %y, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return %dx, %dy : tensor<4xf32>, tensor<4xf32>
}

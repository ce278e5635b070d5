// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// By the filter: a correlation of input and cotangent. By the input: the same
// products in gather form, see gather-windows.mlir.
func.func private @f(%x: tensor<1x2x9x7xf32>, %w: tensor<4x2x3x3xf32>,
                     %i: tensor<1x4x4x5xf32>)
    -> tensor<1x4x4x5xf32> {
  %r = linalg.conv_2d_nchw_fchw
      {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>)
      outs(%i : tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
  return %r : tensor<1x4x4x5xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<1x2x9x7xf32>,
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x2x3x3xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<1x4x4x5xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<1x4x4x5xf32>
// CHECK: %[[SPREAD:.*]] = tensor.insert_slice %[[CT]] into
// CHECK: %[[REVERSED:.*]] = linalg.generic {{.*}} ins(%[[W]] :
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[REVERSED]], %[[SPREAD]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[DW:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "reduction", "reduction", "parallel", "parallel", "parallel"]} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[DX]], %[[DW]]
func.func @vjp(%x: tensor<1x2x9x7xf32>, %w: tensor<4x2x3x3xf32>,
               %i: tensor<1x4x4x5xf32>, %ct: tensor<1x4x4x5xf32>)
    -> (tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>) {
  %r, %dx, %dw = grad.vjp @f(%x, %w, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>, tensor<1x4x4x5xf32>, tensor<1x4x4x5xf32>)
      -> (tensor<1x4x4x5xf32>, tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>)
  return %dx, %dw : tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>
}

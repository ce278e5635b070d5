// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// Each window adds its cotangent to what it covers.
func.func private @f(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x2x2xf32> {
  %zi = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<1x2x2x2xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<1x2x2x2xf32>)
    -> tensor<1x2x2x2xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nchw_sum
      {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<1x2x5x5xf32>, tensor<3x3xf32>)
      outs(%i : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<1x2x5x5xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<1x2x2x2xf32>
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[WINDOW]], %[[CT]] : {{.*}}) outs(%[[ZEROS]] :
// CHECK: arith.addf
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<1x2x5x5xf32>, %ct: tensor<1x2x2x2xf32>)
    -> tensor<1x2x5x5xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>)
      -> (tensor<1x2x2x2xf32>, tensor<1x2x5x5xf32>)
  return %dx : tensor<1x2x5x5xf32>
}

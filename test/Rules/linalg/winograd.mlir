// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Loops over tiles, with constant matrices on either side; here backwards.
func.func private @filter(%x: tensor<2x3x3x1xf32>) -> tensor<4x4x1x2xf32> {
  %e = tensor.empty() : tensor<4x4x1x2xf32>
  %r = linalg.winograd_filter_transform fmr(F_2_3) ins(%x : tensor<2x3x3x1xf32>)
      outs(%e : tensor<4x4x1x2xf32>) -> tensor<4x4x1x2xf32>
  return %r : tensor<4x4x1x2xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4x4x1x2xf32>)
// CHECK: %[[DX:.*]]:2 = scf.for %{{.*}} iter_args(%{{.*}} = %[[CT]], %{{.*}} = %{{.*}})
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: return %[[DX]]#1
func.func @vjp(%x: tensor<2x3x3x1xf32>, %ct: tensor<4x4x1x2xf32>) -> tensor<2x3x3x1xf32> {
  %r, %dx = grad.vjp @filter(%x) cotangents(%ct) wrt [0]
      : (tensor<2x3x3x1xf32>, tensor<4x4x1x2xf32>)
      -> (tensor<4x4x1x2xf32>, tensor<2x3x3x1xf32>)
  return %dx : tensor<2x3x3x1xf32>
}

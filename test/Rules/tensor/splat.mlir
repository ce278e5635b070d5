// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// Becomes the sum of the cotangent.
func.func private @f(%s: f32) -> tensor<4xf32> {
  %r = tensor.splat %s : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[CT]] :
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DS]]
func.func @vjp(%s: f32, %ct: tensor<4xf32>) -> f32 {
  %r, %ds = grad.vjp @f(%s) cotangents(%ct) wrt [0]
      : (f32, tensor<4xf32>) -> (tensor<4xf32>, f32)
  return %ds : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %[[TS:[^:]+]]: f32
// CHECK: %[[DR:.*]] = tensor.splat %[[TS]]
// CHECK: return %[[DR]]
func.func @jvp(%s: f32, %ts: f32) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%s) tangents(%ts) wrt [0]
      : (f32, f32) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// Elements of bf16 are summed in f32.
func.func private @narrow(%s: bf16) -> tensor<4xbf16> {
  %r = tensor.splat %s : tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @vjp_narrow(
// CHECK-SAME: %{{[^:]+}}: bf16, %[[CT:[^:]+]]: tensor<4xbf16>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[CT]] : tensor<4xbf16>) outs(%{{.*}} : tensor<f32>)
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: %[[WIDE:.*]] = tensor.extract %[[SUM]][]
// CHECK: %[[DS:.*]] = arith.truncf %[[WIDE]]
// CHECK: return %[[DS]]
func.func @vjp_narrow(%s: bf16, %ct: tensor<4xbf16>) -> bf16 {
  %r, %ds = grad.vjp @narrow(%s) cotangents(%ct) wrt [0]
      : (bf16, tensor<4xbf16>) -> (tensor<4xbf16>, bf16)
  return %ds : bf16
}

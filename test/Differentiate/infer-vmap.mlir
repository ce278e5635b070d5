// RUN: gradc-opt %s --grad-infer-requires-grad --grad-check-requires-grad | FileCheck %s

// The callee is inferred with the arguments that require a gradient.
// CHECK-LABEL: func.func private @row(
// CHECK-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32, #grad.requires_grad>
func.func private @row(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: grad.vmap @row({{.*}}) batched [0, 1] size 5 : (tensor<5x4xf32, #grad.requires_grad>, tensor<5x4xf32>) -> tensor<5x4xf32, #grad.requires_grad>
func.func @rows(%x: tensor<5x4xf32> {grad.requires_grad}, %y: tensor<5x4xf32>)
    -> tensor<5x4xf32> {
  %r = grad.vmap @row(%x, %y) batched [0, 1] size 5
      : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

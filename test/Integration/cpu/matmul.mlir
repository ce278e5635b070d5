// RUN: gradc-run %s -e loss \
// RUN:   --arg 'dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>' \
// RUN:   --arg 'dense<[[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]> : tensor<2x3xf64>' | FileCheck %s

func.func private @product(%a: tensor<2x2xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3xf64>
  %z = linalg.fill ins(%c : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
  %r = linalg.matmul ins(%a, %b : tensor<2x2xf64>, tensor<2x3xf64>) outs(%z : tensor<2x3xf64>) -> tensor<2x3xf64>
  return %r : tensor<2x3xf64>
}

// The product, and the gradients of the sum of its elements.
// CHECK: [1.000000e+00, 2.000000e+00, 4.000000e+00], [3.000000e+00, 4.000000e+00, 1.000000e+01]
// CHECK: [3.000000e+00, 2.000000e+00], [3.000000e+00, 2.000000e+00]
// CHECK: [4.000000e+00, 4.000000e+00, 4.000000e+00], [6.000000e+00, 6.000000e+00, 6.000000e+00]
func.func @loss(%a: tensor<2x2xf64>, %b: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x2xf64>, tensor<2x3xf64>) {
  %one = arith.constant dense<1.0> : tensor<2x3xf64>
  %y, %da, %db = grad.vjp @product(%a, %b) cotangents(%one) wrt [0, 1]
      : (tensor<2x2xf64>, tensor<2x3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x2xf64>, tensor<2x3xf64>)
  return %y, %da, %db : tensor<2x3xf64>, tensor<2x2xf64>, tensor<2x3xf64>
}

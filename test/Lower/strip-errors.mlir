// RUN: gradc-opt %s --grad-strip -verify-diagnostics

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'grad.vjp' op is still to be differentiated: run grad-gradient first}}
  %y, %dx = grad.vjp @f(%x) cotangents(%x) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

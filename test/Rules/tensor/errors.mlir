// RUN: gradc-opt %s --grad-gradient --split-input-file --verify-diagnostics

// Without a rank there is no zero.
func.func private @unranked(%x: tensor<*xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tensor.cast' op has no derivative rule for values of type 'tensor<*xf32>'}}
  %r = tensor.cast %x : tensor<*xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @vjp(%x: tensor<*xf32>, %ct: tensor<2xf32>) -> tensor<*xf32> {
  %r, %dx = grad.vjp @unranked(%x) cotangents(%ct) wrt [0]
      : (tensor<*xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
  return %dx : tensor<*xf32>
}

// RUN: gradc-run %s -e relu --arg 'dense<[-1.0, 0.0, 2.5]> : tensor<3xf32>' | FileCheck %s --check-prefix=VALUE
// RUN: gradc-run %s -e gradient --arg 'dense<[-1.0, 0.0, 2.5]> : tensor<3xf32>' | FileCheck %s --check-prefix=GRADIENT

// VALUE: dense<[0.000000e+00, 0.000000e+00, 2.500000e+00]> : tensor<3xf32>
func.func @relu(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %a, %zero : f32
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// GRADIENT: dense<[0.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<3xf32>
func.func @gradient(%x: tensor<3xf32>) -> tensor<3xf32> {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %y, %dx = grad.vjp @relu(%x) cotangents(%one) wrt [0]
      : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %dx : tensor<3xf32>
}

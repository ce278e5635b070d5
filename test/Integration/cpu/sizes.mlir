// RUN: gradc-run %s -e empty --arg 'dense<> : tensor<0x4xf32>' | FileCheck %s --check-prefix=EMPTY
// RUN: gradc-run %s -e one --arg 'dense<4.0> : tensor<1x1xf32>' | FileCheck %s --check-prefix=ONE

// EMPTY: dense<> : tensor<0x4xf32>
// EMPTY: dense<0.000000e+00> : tensor<4xf32>
func.func @empty(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = math.sqrt %x : tensor<0x4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<0x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  return %y, %s : tensor<0x4xf32>, tensor<4xf32>
}

// ONE: dense<2.000000e+00> : tensor<1x1xf32>
func.func @one(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = math.sqrt %x : tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

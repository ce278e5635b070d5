// The loss of a two-layer perceptron whose first layer is frozen.
//
//   gradc-opt --grad-infer-requires-grad examples/mlp_loss.mlir
//   gradc-opt --grad-tape examples/mlp_loss.mlir

func.func @loss(%x: tensor<16x8xf32>,
                %w1: tensor<8x32xf32> {grad.name = "w1"},
                %w2: tensor<32x1xf32> {grad.requires_grad, grad.name = "w2"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<16x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %a1 = linalg.matmul ins(%x, %w1 : tensor<16x8xf32>, tensor<8x32xf32>)
      outs(%z1 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %h1 = linalg.tanh ins(%a1 : tensor<16x32xf32>) outs(%e1 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e2 = tensor.empty() : tensor<16x1xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x1xf32>) -> tensor<16x1xf32>
  %y = linalg.matmul ins(%h1, %w2 : tensor<16x32xf32>, tensor<32x1xf32>)
      outs(%z2 : tensor<16x1xf32>) -> tensor<16x1xf32>
  %s = linalg.mul ins(%y, %y : tensor<16x1xf32>, tensor<16x1xf32>)
      outs(%e2 : tensor<16x1xf32>) -> tensor<16x1xf32>
  %e3 = tensor.empty() : tensor<f32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce ins(%s : tensor<16x1xf32>) outs(%z3 : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %acc: f32) {
      %sum = arith.addf %in, %acc : f32
      linalg.yield %sum : f32
    }
  return %loss : tensor<f32>
}

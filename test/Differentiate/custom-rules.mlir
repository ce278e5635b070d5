// RUN: gradc-opt %s --grad-infer-requires-grad --grad-check-requires-grad | FileCheck %s --check-prefix=INFER
// RUN: gradc-opt %s --grad-tape | FileCheck %s --check-prefix=TAPE

// With a custom rule every result depends on every argument, whatever the body
// says.
// INFER-LABEL: func.func private @constant(
// INFER-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32, #grad.requires_grad>
// INFER-SAME: grad.custom_jvp = @constant_jvp
func.func private @constant(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {grad.custom_jvp = @constant_jvp} {
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// INFER-LABEL: func.func private @constant_jvp(
// INFER-SAME: %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
func.func private @constant_jvp(%x: tensor<4xf32>, %t: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %t : tensor<4xf32>, tensor<4xf32>
}

// INFER-LABEL: func.func @roots(
// INFER: call @constant(%{{.*}}) : (tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32, #grad.requires_grad>
func.func @roots(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  %0 = call @constant(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// TAPE-LABEL: func.func @roots.backward(
// TAPE-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// TAPE-NEXT: return %[[CT]]

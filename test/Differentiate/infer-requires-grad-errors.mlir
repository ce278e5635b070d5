// RUN: gradc-opt %s -grad-infer-requires-grad -split-input-file -verify-diagnostics

func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{calls 'recursive' recursively with arguments that require a gradient}}
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @external(tensor<4xf32>) -> tensor<4xf32>
// expected-note@below {{use grad.stop_gradient on the value if no gradient is wanted}}
func.func @main(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  // expected-error@below {{passes a value that requires a gradient to a function whose body is not known}}
  %0 = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @memory(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  // expected-error@below {{moves a value that requires a gradient to memory, where its gradient cannot be followed}}
  %0 = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  %1 = bufferization.to_tensor %0 restrict : memref<4xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @recursive_leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{calls 'recursive_leaf' recursively, whose results require a gradient}}
  %0 = call @recursive_leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = grad.leaf %x : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @pointee(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @pointer() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // expected-error@below {{takes the address of 'pointee', whose arguments require a gradient; call it directly}}
  %0 = func.constant @pointee : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : (tensor<4xf32>) -> tensor<4xf32>
}

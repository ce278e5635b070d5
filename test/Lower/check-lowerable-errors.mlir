// RUN: gradc-opt %s --grad-check-lowerable -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op argument 0 of type 'tensor<?xf32>' has a dynamic shape; compile the function for static shapes}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{'func.func' op result 0 of type 'f32' cannot cross into compiled code; public functions take and return ranked tensors}}
func.func @scalar(%x: tensor<f32>) -> f32 {
  %r = tensor.extract %x[] : tensor<f32>
  return %r : f32
}

// -----

// expected-error @below {{'func.func' op argument 0 of type 'tensor<*xf32>' cannot cross into compiled code}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

func.func private @external(tensor<2xf32>) -> tensor<2xf32>

func.func @call(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'func.call' op to 'external' cannot be inlined: the callee is recursive or has no body}}
  %r = call @external(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @unknown(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tosa.exp' op is not supported by the CPU pipeline}}
  %r = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

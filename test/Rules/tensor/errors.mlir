// RUN: gradc-opt %s --grad-gradient --split-input-file --verify-diagnostics

// A padding value that depends on the position is refused.
func.func private @computed(%x: tensor<2xf32>, %s: f32) -> tensor<4xf32> {
  // expected-error @below {{'tensor.pad' op has no derivative rule for a computed padding value}}
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %0 = arith.mulf %s, %s : f32
    tensor.yield %0 : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @vjp(%x: tensor<2xf32>, %s: f32, %ct: tensor<4xf32>) -> f32 {
  %r, %ds = grad.vjp @computed(%x, %s) cotangents(%ct) wrt [1]
      : (tensor<2xf32>, f32, tensor<4xf32>) -> (tensor<4xf32>, f32)
  return %ds : f32
}

// -----

// In both modes.
func.func private @computed(%x: tensor<2xf32>, %s: f32) -> tensor<4xf32> {
  // expected-error @below {{'tensor.pad' op has no derivative rule for a computed padding value}}
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %0 = arith.mulf %s, %s : f32
    tensor.yield %0 : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @jvp(%x: tensor<2xf32>, %s: f32) -> tensor<4xf32> {
  %r, %dr = grad.jvp @computed(%x, %s) tangents(%s) wrt [1]
      : (tensor<2xf32>, f32, f32) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// -----

// The gradient of an argument of dynamic shape may be zeros of that shape.
// expected-error @below {{a value of type 'tensor<?xf32>' has no derivative rule}}
func.func private @dynamic(%x: tensor<?xf32>) -> tensor<2xf32> {
  %r = tensor.cast %x : tensor<?xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @vjp(%x: tensor<?xf32>, %ct: tensor<2xf32>) -> tensor<?xf32> {
  %r, %dx = grad.vjp @dynamic(%x) cotangents(%ct) wrt [0]
      : (tensor<?xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?xf32>)
  return %dx : tensor<?xf32>
}

// -----

// The elements of a generated tensor have no rule.
// expected-note @below {{requires a gradient because it depends on argument 0}}
func.func private @generate(%s: f32) -> tensor<4xf32> {
  // expected-error @below {{'tensor.generate' op has no derivative rule}}
  // expected-note @below {{stop the gradient in front of it}}
  %r = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %s : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @vjp(%s: f32, %ct: tensor<4xf32>) -> f32 {
  %r, %ds = grad.vjp @generate(%s) cotangents(%ct) wrt [0]
      : (f32, tensor<4xf32>) -> (tensor<4xf32>, f32)
  return %ds : f32
}

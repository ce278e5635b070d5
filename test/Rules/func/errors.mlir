// RUN: gradc-opt %s --grad-differentiate --split-input-file --verify-diagnostics

// expected-note @below {{give it a grad.custom_jvp, which serves both modes}}
func.func private @f(%x: f32) -> f32 attributes {grad.custom_vjp = [@f_fwd, @f_bwd]} {
  return %x : f32
}
func.func private @f_fwd(%x: f32) -> f32 {
  return %x : f32
}
func.func private @f_bwd(%ct: f32) -> f32 {
  return %ct : f32
}
func.func private @g(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op has no forward-mode rule: 'f' has a custom rule for reverse mode only}}
  %0 = call @f(%x) : (f32) -> f32
  return %0 : f32
}

func.func @jvp(%x: f32, %t: f32) -> f32 {
  %r, %dr = grad.jvp @g(%x) tangents(%t) wrt [0] : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// -----

// A rule cannot ask for the derivative that it is.
func.func private @f(%x: f32) -> f32 attributes {grad.custom_jvp = @f_jvp} {
  return %x : f32
}
func.func private @f_jvp(%x: f32, %t: f32) -> (f32, f32) {
  // expected-error @below {{'grad.jvp' op differentiates 'f', which contains it}}
  %r, %dr = grad.jvp @f(%x) tangents(%t) wrt [0] : (f32, f32) -> (f32, f32)
  return %r, %dr : f32, f32
}

func.func @jvp(%x: f32, %t: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%t) wrt [0] : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// -----

// In a scalar body the rule would have to be taken apart.
func.func private @f(%x: f32) -> f32 attributes {grad.custom_jvp = @f_jvp} {
  return %x : f32
}
func.func private @f_jvp(%x: f32, %t: f32) -> (f32, f32) {
  return %x, %t : f32, f32
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{'func.call' op has no derivative rule}}
    // expected-note @below {{stop the gradient in front of it}}
    %0 = func.call @f(%a) : (f32) -> f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @vjp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @g(%x) cotangents(%x) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

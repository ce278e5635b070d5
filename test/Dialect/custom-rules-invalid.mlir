// RUN: gradc-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{grad.custom_jvp must be the symbol of a function}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {grad.custom_jvp = "f_jvp"}

// -----

// expected-error@below {{grad.custom_jvp: @f_jvp does not name a function}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {grad.custom_jvp = @f_jvp}

// -----

// Tangents of the floating-point arguments and results alone.
// expected-error@below {{grad.custom_jvp: 'f_jvp' has the wrong type}}
func.func private @f(f32, i64) -> (f32, i64) attributes {grad.custom_jvp = @f_jvp}
// expected-note@below {{expected '(f32, i64, f32) -> (f32, i64, f32)', got '(f32, i64, f32, i64) -> (f32, i64, f32)'}}
func.func private @f_jvp(f32, i64, f32, i64) -> (f32, i64, f32)

// -----

// expected-error@below {{grad.custom_jvp: 'f_jvp' has the wrong type}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {grad.custom_jvp = @f_jvp}
// expected-note@below {{expected '(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)', got '(tensor<4xf32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf32>)'}}
func.func private @f_jvp(tensor<4xf32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xf32>)

// -----

// expected-error@below {{grad.custom_vjp must be the symbols of two functions, [@forward, @backward]}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {grad.custom_vjp = [@f_fwd]}

// -----

// expected-error@below {{grad.custom_vjp: 'f_fwd' has the wrong type}}
func.func private @f(f32, i64) -> f32 attributes {grad.custom_vjp = [@f_fwd, @f_bwd]}
// expected-note@below {{expected '(f32, i64) -> f32', followed by residuals, got '(f32) -> (f32, f32)'}}
func.func private @f_fwd(f32) -> (f32, f32)
func.func private @f_bwd(f32, f32) -> f32

// -----

// Residuals, then cotangents.
// expected-error@below {{grad.custom_vjp: 'f_bwd' has the wrong type}}
func.func private @f(f32, i64) -> f32 attributes {grad.custom_vjp = [@f_fwd, @f_bwd]}
func.func private @f_fwd(f32, i64) -> (f32, f64)
// expected-note@below {{expected '(f64, f32) -> f32', got '(f64, f32) -> (f32, f32)'}}
func.func private @f_bwd(f64, f32) -> (f32, f32)

// -----

// expected-error@below {{grad.custom_jvp: @f_jvp is a rule and cannot have one of its own}}
func.func private @f(f32) -> f32 attributes {grad.custom_jvp = @f_jvp}
func.func private @f_jvp(f32, f32) -> (f32, f32) attributes {grad.custom_jvp = @f_jvp_jvp}
func.func private @f_jvp_jvp(f32, f32, f32, f32) -> (f32, f32, f32, f32)

// -----

// expected-error@below {{attribute 'grad.custom_jvp' belongs on a function}}
module attributes {grad.custom_jvp = @f} {
}

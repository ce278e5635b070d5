// RUN: gradc-opt %s --grad-gradient --split-input-file --verify-diagnostics

// A difference is no sum: its derivative changes sign with every term.
func.func private @difference(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'linalg.reduce' op has no derivative rule for a reduction of this kind}}
  %r = linalg.reduce ins(%x : tensor<4xf32>) outs(%i : tensor<f32>) dimensions = [0]
    (%a: f32, %o: f32) {
      // expected-note @below {{result 0 is neither a sum, a product, a maximum nor a minimum of the values that the loops visit}}
      %0 = arith.subf %a, %o : f32
      linalg.yield %0 : f32
    }
  return %r : tensor<f32>
}

func.func @vjp(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @difference(%x, %i) cotangents(%i) wrt [0]
      : (tensor<4xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<f32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// -----

// A choice that does not compare the two values is no maximum.
func.func private @first(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{has no derivative rule for a reduction of this kind}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]
  } ins(%x : tensor<4xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf oeq, %o, %zero : f32
    // expected-note @below {{result 0 is neither a sum, a product}}
    %1 = arith.select %0, %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func @vjp(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @first(%x, %i) cotangents(%i) wrt [0]
      : (tensor<4xf32>, tensor<f32>, tensor<f32>)
      -> (tensor<f32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// -----

// Which point writes last is not said.
func.func private @overwritten(%x: tensor<4x3xf32>, %i: tensor<4xf32>)
    -> tensor<4xf32> {
  // expected-error @below {{'linalg.generic' op has no derivative rule: it does not write each element of result 0 once}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                       affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<4x3xf32>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @jvp(%x: tensor<4x3xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @overwritten(%x, %i) tangents(%x) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4x3xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// -----

// Elements that no point writes keep their initial value.
func.func private @diagonal(%x: tensor<4xf32>, %i: tensor<4x4xf32>)
    -> tensor<4x4xf32> {
  // expected-error @below {{'linalg.generic' op has no derivative rule: it does not write each element of result 0 once}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @jvp(%x: tensor<4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r, %dr = grad.jvp @diagonal(%x, %i) tangents(%x, %i) wrt [0, 1]
      : (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>)
      -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %dr : tensor<4x4xf32>
}

// -----

// A running sum that another result reads is kept nowhere.
func.func private @running(%x: tensor<4xf32>, %i: tensor<f32>, %e: tensor<4xf32>)
    -> (tensor<f32>, tensor<4xf32>) {
  // expected-error @below {{has no derivative rule: the running value of result 0 is used for another result}}
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
                       affine_map<(d0) -> (d0)>],
      iterator_types = ["reduction"]
  } ins(%x : tensor<4xf32>) outs(%i, %e : tensor<f32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0, %0 : f32, f32
  } -> (tensor<f32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<4xf32>
}

func.func @vjp(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %r:3 = grad.vjp @running(%x, %i, %x) cotangents(%i, %x) wrt [0]
      : (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>)
      -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return %r#2 : tensor<4xf32>
}

// -----

// The initial value of a maximum is no term of it.
func.func private @maximum(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{has no derivative rule for the initial value of a maximum or minimum}}
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<4xf32>)
    outs(%i : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @vjp(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %r, %di = grad.vjp @maximum(%x, %i) cotangents(%i) wrt [1]
      : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %di : tensor<f32>
}

// -----

// A constant position is that of a broadcast, in a dimension of size one.
func.func private @column(%x: tensor<4x3xf32>, %e: tensor<4xf32>)
    -> tensor<4xf32> {
  // expected-error @below {{has no derivative rule for an operand that is read at a constant position}}
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0, 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4x3xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @vjp(%x: tensor<4x3xf32>, %e: tensor<4xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @column(%x, %e) cotangents(%e) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// -----

// How many halves there are has to be known.
func.func private @dynamic(%x: tensor<?xf32>, %i: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{has no derivative rule for a product over dynamic shapes}}
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<?xf32>)
    outs(%i : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @jvp(%x: tensor<?xf32>, %i: tensor<f32>) -> tensor<f32> {
  %r, %dr = grad.jvp @dynamic(%x, %i) tangents(%x) wrt [0]
      : (tensor<?xf32>, tensor<f32>, tensor<?xf32>) -> (tensor<f32>, tensor<f32>)
  return %dr : tensor<f32>
}

// -----

// An op without a rule is an error in a scalar body as well.
func.func private @body(%x: tensor<4xf32>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
                       affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]
  } ins(%x, %c : tensor<4xf32>, tensor<4xi1>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
    %0 = arith.truncf %a : f32 to f16
    // expected-error @below {{'arith.bitcast' op has no derivative rule}}
    // expected-note @below {{stop the gradient in front of it, or give the op a rule}}
    %1 = arith.bitcast %0 : f16 to bf16
    %2 = arith.extf %1 : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @vjp(%x: tensor<4xf32>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @body(%x, %c) cotangents(%x) wrt [0]
      : (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

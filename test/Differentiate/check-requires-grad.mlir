// RUN: gradc-opt %s -grad-check-requires-grad -split-input-file -verify-diagnostics

// The fixed point of a loop: the yielded value carries, so the argument does.
func.func @fits(%x: tensor<4xf32, #grad.requires_grad>, %k: tensor<4xf32>, %n: index) -> tensor<4xf32, #grad.requires_grad> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = grad.promote %k : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %p) -> (tensor<4xf32, #grad.requires_grad>) {
    %0 = arith.addf %acc, %x : tensor<4xf32, #grad.requires_grad>
    scf.yield %0 : tensor<4xf32, #grad.requires_grad>
  }
  return %r : tensor<4xf32, #grad.requires_grad>
}

// -----

// expected-note@below {{depends on argument 'w'}}
func.func @hidden(%w: tensor<4xf32, #grad.requires_grad> {grad.name = "w"}) -> tensor<4xf32> {
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %0 = math.exp %w : tensor<4xf32, #grad.requires_grad>
  // expected-error@below {{result 0 of 'tensor.cast' requires a gradient, but its type 'tensor<4xf32>' hides it}}
  %1 = tensor.cast %0 : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error@below {{argument 'w' requires a gradient, but its type 'tensor<4xf32>' hides it}}
func.func @hidden_root(%w: tensor<4xf32> {grad.name = "w", grad.requires_grad}) {
  return
}

// -----

func.func @claimed(%k: tensor<4xf32>) {
  // expected-error@below {{result 0 of 'tensor.cast' has type 'tensor<4xf32, #grad.requires_grad>', but cannot require a gradient}}
  // expected-note@below {{nothing that it depends on requires one}}
  %0 = tensor.cast %k : tensor<4xf32> to tensor<4xf32, #grad.requires_grad>
  return
}

// -----

func.func @stopped(%x: tensor<4xf32, #grad.requires_grad>) {
  // expected-error@below {{result 0 of 'grad.stop_gradient' has type}}
  // expected-note@below {{no gradient passes the op}}
  %0 = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32, #grad.requires_grad>
  return
}

// -----

func.func @under_no_grad(%x: tensor<4xf32, #grad.requires_grad>) {
  grad.no_grad {
    // expected-error@below {{result 0 of 'math.exp' has type}}
    // expected-note@below {{the op is under grad.no_grad}}
    %0 = math.exp %x : tensor<4xf32, #grad.requires_grad>
    grad.yield
  }
  return
}

// -----

func.func @boolean(%x: tensor<4xf32, #grad.requires_grad>) {
  // expected-error@below {{result 0 of 'arith.cmpf' has type 'tensor<4xi1, #grad.requires_grad>', but only floating-point and complex values can require a gradient}}
  %0 = arith.cmpf olt, %x, %x : tensor<4xf32, #grad.requires_grad>
  return
}

// -----

// expected-error@below {{argument 0 has type 'tensor<4xi32, #grad.requires_grad>'}}
func.func @integer(%n: tensor<4xi32, #grad.requires_grad>) {
  return
}

// -----

func.func private @callee(%x: tensor<f32, #grad.requires_grad>) -> tensor<f32, #grad.requires_grad> {
  return %x : tensor<f32, #grad.requires_grad>
}
func.func @call(%x: tensor<f32, #grad.requires_grad>) {
  // expected-note@below {{depends on result 0 of 'func.call'}}
  %0 = call @callee(%x) : (tensor<f32, #grad.requires_grad>) -> tensor<f32, #grad.requires_grad>
  %e = tensor.empty() : tensor<f32>
  // expected-error@below {{result 0 of 'linalg.generic' requires a gradient, but its type 'tensor<f32>' hides it}}
  %1 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%0 : tensor<f32, #grad.requires_grad>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<f32>
  return
}

// -----

// A long way is shortened in the middle.
// expected-note@+2 {{and so on, through 1 more values}}
// expected-note@+1 {{depends on argument 0}}
func.func @long(%x: tensor<4xf32, #grad.requires_grad>) {
  %0 = math.exp %x : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %1 = math.exp %0 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %2 = math.exp %1 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %3 = math.exp %2 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %4 = math.exp %3 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %5 = math.exp %4 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %6 = math.exp %5 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %7 = math.exp %6 : tensor<4xf32, #grad.requires_grad>
  // expected-note@below {{depends on result 0 of 'math.exp'}}
  %8 = math.exp %7 : tensor<4xf32, #grad.requires_grad>
  // expected-error@below {{hides it}}
  %9 = tensor.cast %8 : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  return
}

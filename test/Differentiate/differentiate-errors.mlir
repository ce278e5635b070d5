// RUN: gradc-opt %s --grad-gradient --split-input-file --verify-diagnostics

// An op without a rule is an error, with the path from an argument to it.
// expected-note @below {{requires a gradient because it depends on argument 'weight'}}
func.func private @f(%x: f32, %w: f32 {grad.name = "weight"}) -> f32 {
  // expected-note @below {{through 'math.sin' here}}
  %0 = math.sin %w : f32
  // expected-note @below {{through 'arith.mulf' here}}
  %1 = arith.mulf %x, %0 : f32
  // expected-error @below {{'arith.bitcast' op has no derivative rule}}
  // expected-note @below {{stop the gradient in front of it, or give the op a rule (DifferentiableOpInterface)}}
  %2 = arith.bitcast %1 : f32 to f32
  return %2 : f32
}

func.func @vjp(%x: f32) -> f32 {
  %r, %dw = grad.vjp @f(%x, %x) cotangents(%x) wrt [1]
      : (f32, f32, f32) -> (f32, f32)
  return %dw : f32
}

// -----

// The same in forward mode.
// expected-note @below {{requires a gradient because it depends on argument 0}}
func.func private @f(%x: f32) -> f32 {
  // expected-error @below {{'arith.bitcast' op has no derivative rule}}
  // expected-note @below {{stop the gradient in front of it}}
  %0 = arith.bitcast %x : f32 to f32
  return %0 : f32
}

func.func @jvp(%x: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%x) wrt [0] : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// -----

// An op in a region needs a rule as well; what it reads from outside is on the
// path too.
// expected-note @below {{requires a gradient because it depends on argument 0}}
func.func private @f(%x: f32, %c: i1) -> f32 {
  %0 = scf.if %c -> f32 {
    // expected-error @below {{'arith.bitcast' op has no derivative rule}}
    // expected-note @below {{stop the gradient in front of it}}
    %1 = arith.bitcast %x : f32 to f32
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  return %0 : f32
}

func.func @vjp(%x: f32, %c: i1) -> f32 {
  %r, %dx = grad.vjp @f(%x, %c) cotangents(%x) wrt [0]
      : (f32, i1, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// No error where no gradient has to pass.
func.func private @f(%x: f32, %k: f32) -> f32 {
  %0 = arith.bitcast %k : f32 to f32
  %1 = arith.mulf %x, %0 : f32
  return %1 : f32
}

func.func @vjp(%x: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %x) cotangents(%x) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// Recursion, here through a second function, cannot be inlined.
func.func private @even(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op cannot be differentiated: 'odd' calls itself}}
  %0 = call @odd(%x) : (f32) -> f32
  return %0 : f32
}

// expected-note @below {{write the recursion as a loop}}
func.func private @odd(%x: f32) -> f32 {
  %0 = call @even(%x) : (f32) -> f32
  return %0 : f32
}

func.func @vjp(%x: f32) -> f32 {
  %r, %dx = grad.vjp @even(%x) cotangents(%x) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// The body of a callee is needed.
// expected-note @below {{declared without a body here}}
func.func private @external(%x: f32) -> f32

func.func private @f(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op needs the body of 'external' to differentiate it}}
  %0 = call @external(%x) : (f32) -> f32
  return %0 : f32
}

func.func @vjp(%x: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%x) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// expected-note @below {{declared without a body here}}
func.func private @external(%x: f32) -> f32

func.func @vjp(%x: f32) -> f32 {
  // expected-error @below {{'grad.vjp' op needs the body of 'external' to differentiate it}}
  %r, %dx = grad.vjp @external(%x) cotangents(%x) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// Branches between blocks have no structure to differentiate.
// expected-note @below {{use scf.if, scf.for or scf.while}}
func.func private @f(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^left, ^right
^left:
  %0 = math.sin %x : f32
  return %0 : f32
^right:
  return %x : f32
}

func.func @vjp(%x: f32, %c: i1) -> f32 {
  // expected-error @below {{'grad.vjp' op cannot differentiate 'f': it has unstructured control flow}}
  %r, %dx = grad.vjp @f(%x, %c) cotangents(%x) wrt [0]
      : (f32, i1, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// A function cannot be differentiated inside itself.
func.func @f(%x: f32) -> f32 {
  // expected-error @below {{'grad.vjp' op differentiates 'f', which contains it}}
  %r, %dx = grad.vjp @f(%x) cotangents(%x) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// Memory is not followed.
func.func private @f(%x: f32, %m: memref<f32>) -> f32 {
  // expected-error @below {{'memref.store' op moves a value that requires a gradient to memory, where its gradient cannot be followed}}
  memref.store %x, %m[] : memref<f32>
  %0 = memref.load %m[] : memref<f32>
  return %0 : f32
}

func.func @vjp(%x: f32, %m: memref<f32>) -> f32 {
  %r, %dx = grad.vjp @f(%x, %m) cotangents(%x) wrt [0]
      : (f32, memref<f32>, f32) -> (f32, f32)
  return %dx : f32
}

// -----

// An argument without a rank has no zeros to start from.
// expected-error @below {{a value of type 'tensor<*xf32>' has no derivative rule}}
func.func private @f(%x: tensor<*xf32>, %y: f32) -> f32 {
  return %y : f32
}

func.func @vjp(%x: tensor<*xf32>, %y: f32) -> tensor<*xf32> {
  %r, %dx = grad.vjp @f(%x, %y) cotangents(%y) wrt [0]
      : (tensor<*xf32>, f32, f32) -> (f32, tensor<*xf32>)
  return %dx : tensor<*xf32>
}

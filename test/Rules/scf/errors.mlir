// RUN: gradc-opt %s --grad-gradient --split-input-file --verify-diagnostics

// A shape that may change in each iteration cannot be saved.
func.func private @f(%x: tensor<4xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{'scf.for' op has no reverse-mode derivative rule: it carries a value of type 'tensor<?xf32>', which the gradient needs of every iteration}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %d) -> tensor<?xf32> {
    %0 = tensor.extract %y[%i] : tensor<?xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = tensor.insert %1 into %y[%i] : tensor<?xf32>
    %3 = tensor.extract_slice %2[0] [%i] [1] : tensor<?xf32> to tensor<?xf32>
    scf.yield %3 : tensor<?xf32>
  }
  %e = tensor.extract %r[%c0] : tensor<?xf32>
  return %e : f32
}

func.func @vjp(%x: tensor<4xf32>, %n: index, %ct: f32) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x, %n) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, index, f32) -> (f32, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// -----

// Parallel loops have no rule.
// expected-note @below {{requires a gradient because it depends on argument 0}}
func.func private @f(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'scf.parallel' op has no derivative rule}}
  // expected-note @below {{stop the gradient in front of it}}
  %r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

func.func @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

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

// Control flow between blocks cannot be taken apart.
func.func private @f(%x: f32, %c: i1) -> f32 {
  // expected-error @below {{'scf.execute_region' op has no derivative rule: it has control flow between blocks}}
  // expected-note @below {{use scf.if, scf.for or scf.while}}
  %r = scf.execute_region -> f32 {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %0 = math.exp %x : f32
    cf.br ^bb3(%0 : f32)
  ^bb2:
    cf.br ^bb3(%x : f32)
  ^bb3(%1: f32):
    scf.yield %1 : f32
  }
  return %r : f32
}

func.func @vjp(%x: f32, %c: i1, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %c) cotangents(%ct) wrt [0] : (f32, i1, f32) -> (f32, f32)
  return %dx : f32
}

// RUN: gradc-opt %s -grad-explain -split-input-file -verify-diagnostics -o /dev/null

// The shortest way: %y is one step from 'x' and two from 'w'.
func.func @path(%x: f32 {grad.name = "x", grad.requires_grad},
                %w: f32 {grad.name = "w", grad.requires_grad}) -> f32 {
  // expected-remark@below {{requires grad: depends on argument 'w'}}
  // expected-note@below {{through 'math.exp' here}}
  %0 = math.exp %w : f32
  // expected-remark@below {{requires grad: depends on argument 'w'}}
  %1 = math.sin %0 : f32
  // expected-remark@below {{requires grad: depends on argument 'x'}}
  %y = arith.mulf %1, %x : f32
  return %y : f32
}

// -----

// A structured op is one step; its body gets no remarks.
#id = affine_map<(d0) -> (d0)>
func.func @structured(%a: tensor<4xf32>, %w: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  // expected-remark@below {{does not require grad: reads only constants}}
  %e = tensor.empty() : tensor<4xf32>
  // expected-note@below {{through 'linalg.generic' here}}
  // expected-remark@below {{requires grad: depends on argument 1}}
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  // expected-remark@below {{requires grad: depends on argument 1}}
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // The destination is only written to.
  // expected-remark@below {{does not require grad: reads only constants}}
  %2 = linalg.exp ins(%a : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-note@below {{cuts the path of argument 'x'}}
func.func @stopped(%x: f32 {grad.name = "x", grad.requires_grad}, %k: f32) -> (f32, f32) {
  // expected-remark@below {{requires grad: depends on argument 'x'}}
  // expected-note@below {{through 'math.exp' here}}
  %0 = math.exp %x : f32
  // expected-remark@below {{does not require grad: stopped by 'grad.stop_gradient'}}
  // expected-note@below {{stopped here}}
  %1 = grad.stop_gradient %0 : f32 -> f32
  // expected-remark@below {{does not require grad: stopped by 'grad.stop_gradient'}}
  %2 = math.sin %1 : f32
  // A barrier that cuts nothing is no reason.
  // expected-remark@below {{does not require grad: reads only constants}}
  %3 = grad.stop_gradient %k : f32 -> f32
  // expected-remark@below {{requires grad: depends on argument 'x'}}
  %4 = arith.mulf %0, %2 : f32
  return %4, %3 : f32, f32
}

// -----

// expected-note@below {{cuts the path of argument 0}}
// expected-note@below {{cuts the path of argument 1}}
func.func @no_grad(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad}) -> f32 {
  // expected-remark@below {{does not require grad: stopped by 'grad.no_grad'}}
  // expected-note@below {{stopped here}}
  %0 = grad.no_grad -> f32 {
    // expected-remark@below {{does not require grad: stopped by 'grad.no_grad'}}
    %1 = arith.mulf %x, %y : f32
    grad.yield %1 : f32
  }
  // expected-remark@below {{requires grad: depends on argument 0}}
  %2 = arith.mulf %0, %x : f32
  return %2 : f32
}

// -----

// The value of one argument with the path of another.
// expected-note@below {{cuts the path of argument 0}}
func.func @value_of(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad}) -> f32 {
  // expected-remark@below {{requires grad: depends on argument 1}}
  %0 = grad.value_of %x, %y : f32, f32 -> f32
  return %0 : f32
}

// -----

func.func @types(%x: f32 {grad.requires_grad}) -> f32 {
  // expected-remark@below {{requires grad, not needed: reaches no output that is differentiated}}
  %0 = math.exp %x : f32
  // expected-remark@below {{does not require grad: integer}}
  %1 = arith.fptosi %0 : f32 to i32
  // expected-remark@below {{does not require grad: reads only constants}}
  %2 = arith.sitofp %1 : i32 to f32
  return %2 : f32
}

// -----

// Only result 1 is differentiated.
func.func @outputs(%x: f32 {grad.requires_grad}) -> (f32, f32) attributes {grad.cotangents = array<i64: 1>} {
  // expected-remark@below {{requires grad, not needed: reaches no output that is differentiated}}
  %0 = math.exp %x : f32
  // expected-remark@below {{requires grad: depends on argument 0}}
  %1 = math.sin %x : f32
  return %0, %1 : f32, f32
}

// -----

// expected-note@below {{cuts the path of argument 0}}
func.func @leaf(%x: f32 {grad.requires_grad}) -> f32 {
  // expected-remark@below {{requires grad: is a leaf}}
  %0 = grad.leaf %x : f32 -> f32
  // expected-remark@below {{requires grad: depends on a leaf}}
  %1 = math.exp %0 : f32
  return %1 : f32
}

// -----

// A loop hands its values on, and becomes a step of the path.
func.func @loop(%x: f32 {grad.requires_grad}, %n: index) -> f32 {
  // expected-remark@below {{does not require grad: integer}}
  %c0 = arith.constant 0 : index
  // expected-remark@below {{does not require grad: integer}}
  %c1 = arith.constant 1 : index
  // expected-remark@below {{does not require grad: reads only constants}}
  %k = arith.constant 1.0 : f32
  // expected-remark@below {{requires grad: depends on argument 0}}
  // expected-note@below {{through 'scf.for' here}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %k) -> f32 {
    // expected-remark@below {{requires grad: depends on argument 0}}
    // expected-note@below {{through 'arith.mulf' here}}
    %0 = arith.mulf %acc, %x : f32
    scf.yield %0 : f32
  }
  // expected-remark@below {{requires grad: depends on argument 0}}
  %1 = math.exp %r : f32
  return %1 : f32
}

// -----

// What a call does is read from its callee: of @first only argument 0 reaches
// the result. A function without roots is not explained.
func.func private @first(%a: f32, %b: f32) -> f32 {
  %0 = grad.stop_gradient %b : f32 -> f32
  %1 = arith.mulf %a, %0 : f32
  return %1 : f32
}

// expected-note@below {{cuts the path of argument 0}}
// expected-note@below {{cuts the path of argument 1}}
func.func @calls(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad}, %k: f32) -> (f32, f32) {
  // expected-remark@below {{requires grad: depends on argument 1}}
  %0 = call @first(%y, %x) : (f32, f32) -> f32
  // expected-remark@below {{does not require grad: stopped by 'func.call'}}
  %1 = call @first(%k, %y) : (f32, f32) -> f32
  return %0, %1 : f32, f32
}

// RUN: gradc-opt %s -grad-test-gradient-analysis -verify-diagnostics -o /dev/null
//
// Numbers in comments are those of the definitions in RequiresGradAnalysis.cpp
// and UsefulAnalysis.cpp.

#id = affine_map<(d0) -> (d0)>

// (2) in both directions.
func.func @chain(%x: f32 {grad.requires_grad}, %k: f32) -> f32 {
  // expected-remark@below {{a: needs}}
  %a = math.exp %x {tag = "a"} : f32
  // Nothing that is returned depends on it.
  // expected-remark@below {{b: required}}
  %b = math.exp %a {tag = "b"} : f32
  // expected-remark@below {{c: useful}}
  %c = math.exp %k {tag = "c"} : f32
  // expected-remark@below {{d: constant}}
  %d = math.exp %k {tag = "d"} : f32
  // expected-remark@below {{e: needs}}
  %e = arith.mulf %a, %c {tag = "e"} : f32
  return %e : f32
}

// A gradient does not flow through integers.
func.func @integers(%x: f32 {grad.requires_grad}) -> f32 {
  // expected-remark@below {{a: required}}
  %a = math.exp %x {tag = "a"} : f32
  // expected-remark@below {{i: constant}}
  %i = arith.fptosi %a {tag = "i"} : f32 to i32
  // expected-remark@below {{b: useful}}
  %b = arith.sitofp %i {tag = "b"} : i32 to f32
  return %b : f32
}

// Barriers: what stops, where a leaf starts, which operand carries.
func.func @barriers(%x: f32 {grad.requires_grad}, %k: f32) -> (f32, f32, f32) {
  // expected-remark@below {{a: required}}
  %a = math.exp %x {tag = "a"} : f32
  // expected-remark@below {{stop: useful}}
  %0 = grad.stop_gradient %a {tag = "stop"} : f32 -> f32
  // expected-remark@below {{leaf: needs}}
  %1 = grad.leaf %k {tag = "leaf"} : f32 -> f32
  // expected-remark@below {{v: required}}
  %v = math.exp %x {tag = "v"} : f32
  // expected-remark@below {{p: needs}}
  %p = math.exp %x {tag = "p"} : f32
  // expected-remark@below {{value_of: needs}}
  %2 = grad.value_of %v, %p {tag = "value_of"} : f32, f32 -> f32
  return %0, %1, %2 : f32, f32, f32
}

// (3): through the body, result by result, captured values included.
func.func @structured(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-remark@below {{unused: required}}
  %u = math.exp %x {tag = "unused"} : tensor<4xf32>
  // expected-remark@below {{captured: needs}}
  %c = math.exp %x {tag = "captured"} : tensor<4xf32>
  // expected-remark@below {{result: useful needs}}
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%u, %k : tensor<4xf32>, tensor<4xf32>) outs(%k, %k : tensor<4xf32>, tensor<4xf32>) attrs = {tag = "result"} {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32):
    %i = linalg.index 0 : index
    // expected-remark@below {{element: needs}}
    %0 = tensor.extract %c[%i] {tag = "element"} : tensor<4xf32>
    // expected-remark@below {{product: needs}}
    %1 = arith.mulf %0, %b {tag = "product"} : f32
    linalg.yield %b, %1 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// (4): a fixpoint over the loop. The second value never meets the root.
func.func @loop(%x: f32 {grad.requires_grad}, %k: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{loop: needs useful constant}}
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %k, %b = %k, %c = %k) -> (f32, f32, f32) {
    // expected-remark@below {{sum: needs}}
    %0 = arith.addf %a, %x {tag = "sum"} : f32
    // expected-remark@below {{square: useful}}
    %1 = arith.mulf %b, %b {tag = "square"} : f32
    // expected-remark@below {{dead: constant}}
    %2 = arith.mulf %c, %c {tag = "dead"} : f32
    scf.yield %0, %1, %2 : f32, f32, f32
  } {tag = "loop"}
  %s = arith.addf %r#0, %r#1 : f32
  return %s : f32
}

// The branch that is dead today has to have types too.
func.func @dead_branch(%x: f32 {grad.requires_grad}) -> f32 {
  %false = arith.constant false
  // expected-remark@below {{if: needs}}
  %r = scf.if %false -> f32 {
    // expected-remark@below {{then: needs}}
    %0 = math.exp %x {tag = "then"} : f32
    scf.yield %0 : f32
  } else {
    %1 = arith.constant 0.0 : f32
    scf.yield %1 : f32
  } {tag = "if"}
  return %r : f32
}

// (5): without a model, a call carries everything.
func.func private @callee(f32, f32) -> f32
func.func @call(%x: f32 {grad.requires_grad}, %k: f32) -> f32 {
  // expected-remark@below {{a: useful}}
  %a = math.exp %k {tag = "a"} : f32
  // expected-remark@below {{call: needs}}
  %r = func.call @callee(%x, %a) {tag = "call"} : (f32, f32) -> f32
  return %r : f32
}

// A transform is an op like any other to the level around it.
func.func private @f(%x: f32) -> f32 {
  return %x : f32
}
func.func @transform(%x: f32 {grad.requires_grad}, %k: f32) -> f32 {
  // expected-remark@below {{a: useful}}
  %a = math.exp %k {tag = "a"} : f32
  // expected-remark@below {{vjp: required needs}}
  %r:2 = grad.vjp @f(%x) cotangents(%a) wrt [0] {tag = "vjp"} : (f32, f32) -> (f32, f32)
  return %r#1 : f32
}

// An op under no_grad reads stopped operands; what passes through is not read.
func.func @no_grad(%x: f32 {grad.requires_grad}) -> (f32, f32, f32) {
  // expected-remark@below {{region: useful needs needs}}
  %r:3 = grad.no_grad -> f32, f32, f32 attributes {tag = "region"} {
    // expected-remark@below {{inside: useful}}
    %0 = math.exp %x {tag = "inside"} : f32
    %1 = grad.enable_grad -> f32 {
      // expected-remark@below {{enabled: needs}}
      %2 = arith.mulf %0, %x {tag = "enabled"} : f32
      grad.yield %2 : f32
    }
    grad.yield %0, %x, %1 : f32, f32, f32
  }
  return %r#0, %r#1, %r#2 : f32, f32, f32
}

// (6): dataflow that is not known is taken whole.
func.func @opaque(%x: f32 {grad.requires_grad}, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-remark@below {{parallel: needs}}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f32 {
    // expected-remark@below {{term: needs}}
    %0 = math.exp %x {tag = "term"} : f32
    scf.reduce(%0 : f32) {
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  } {tag = "parallel"}
  return %r : f32
}

func.func @forall(%x: tensor<4xf32> {grad.requires_grad}, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@below {{forall: needs}}
  %r = scf.forall (%i) in (4) shared_outs(%out = %d) -> (tensor<4xf32>) {
    // expected-remark@below {{read: required}}
    %0 = tensor.extract_slice %out[%i] [1] [1] {tag = "read"} : tensor<4xf32> to tensor<1xf32>
    // expected-remark@below {{written: needs}}
    %1 = tensor.extract_slice %x[%i] [1] [1] {tag = "written"} : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  } {tag = "forall"}
  return %r : tensor<4xf32>
}

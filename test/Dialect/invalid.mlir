// RUN: gradc-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{argument 0 of type 'tensor<4xi32>' cannot require a gradient: only floating-point and complex values can}}
func.func private @integer_root(tensor<4xi32> {grad.requires_grad})

// -----

// expected-error@below {{argument 0: 'grad.requires_grad' must be a unit attribute}}
func.func private @root_value(tensor<4xf32> {grad.requires_grad = true})

// -----

// expected-error@below {{argument 0: 'grad.name' must be a string}}
func.func private @name(tensor<4xf32> {grad.name = 1})

// -----

// expected-error@below {{attribute 'grad.requires_grad' belongs on a function argument}}
func.func private @misplaced() attributes {grad.requires_grad}

// -----

func.func @stop(%x: tensor<4xf32>) {
  // expected-error@below {{result type 'tensor<5xf32>' differs from operand type 'tensor<4xf32>' in more than #grad.requires_grad}}
  %0 = grad.stop_gradient %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @value_of(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@below {{result type 'tensor<4xf32>' differs from operand type 'tensor<4xf64>'}}
  %0 = grad.value_of %x, %y : tensor<4xf32>, tensor<4xf64> -> tensor<4xf32>
  return
}

// -----

func.func @leaf(%x: tensor<4xi32>) {
  // expected-error@below {{cannot require a gradient: only floating-point and complex values can}}
  %0 = grad.leaf %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @promote(%x: tensor<4xf32>) {
  // expected-error@below {{differs from operand type}}
  %0 = grad.promote %x : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @no_grad_yield(%x: f32) {
  // expected-error@+2 {{region branch point has 0 operands, but region successor needs 1}}
  // expected-note@below {{region branch point}}
  %0 = grad.no_grad -> f32 {
  }
  return
}

// -----

func.func @no_grad_argument() {
  // expected-error@below {{region should have no arguments}}
  grad.no_grad {
  ^bb0(%x: f32):
    grad.yield
  }
  return
}

// -----

func.func @terminator() {
  // expected-error@+2 {{expects regions to end with 'grad.yield', found 'ub.unreachable'}}
  // expected-note@below {{the absence of terminator implies 'grad.yield'}}
  "grad.checkpoint"() ({
    "ub.unreachable"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @no_callee(%x: f32) {
  // expected-error@below {{'f' does not name a function}}
  %0:2 = grad.vjp @f(%x) cotangents(%x) wrt [0] : (f32, f32) -> (f32, f32)
  return
}

// -----

func.func private @f(f32) -> f32
func.func @num_arguments(%x: f32) {
  // expected-error@below {{expects 1 arguments, got 2}}
  %0:2 = grad.vjp @f(%x, %x) cotangents(%x) wrt [0] : (f32, f32, f32) -> (f32, f32)
  return
}

// -----

func.func private @f(f32) -> f32
func.func @argument_type(%x: f64, %c: f32) {
  // expected-error@below {{argument 0 must have type 'f32', got 'f64'}}
  %0:2 = grad.vjp @f(%x) cotangents(%c) wrt [0] : (f64, f32) -> (f32, f64)
  return
}

// -----

// Only the floating-point results have a cotangent.
func.func private @f(f32) -> (i32, f32)
func.func @num_cotangents(%x: f32) {
  // expected-error@below {{expects 1 cotangents, got 2}}
  %0:3 = grad.vjp @f(%x) cotangents(%x, %x) wrt [0] : (f32, f32, f32) -> (i32, f32, f32)
  return
}

// -----

func.func private @f(f32, f64) -> f32
func.func @results(%x: f32, %y: f64) {
  // expected-error@below {{result 1 must have type 'f64', got 'f32'}}
  %0:2 = grad.vjp @f(%x, %y) cotangents(%x) wrt [1] : (f32, f64, f32) -> (f32, f32)
  return
}

// -----

func.func private @f(f32) -> f32
func.func @wrt_range(%x: f32) {
  // expected-error@below {{wrt: argument 1 does not exist, the callee has 1}}
  %0:2 = grad.vjp @f(%x) cotangents(%x) wrt [1] : (f32, f32) -> (f32, f32)
  return
}

// -----

func.func private @f(f32) -> f32
func.func @wrt_negative(%x: f32) {
  // expected-error@below {{wrt: argument -1 does not exist}}
  %0:2 = grad.jvp @f(%x) tangents(%x) wrt [-1] : (f32, f32) -> (f32, f32)
  return
}

// -----

func.func private @f(f32) -> f32
func.func @wrt_twice(%x: f32) {
  // expected-error@below {{wrt: argument 0 is listed twice}}
  %0:3 = grad.vjp @f(%x) cotangents(%x) wrt [0, 0] : (f32, f32) -> (f32, f32, f32)
  return
}

// -----

func.func private @f(i32) -> f32
func.func @wrt_integer(%x: i32, %c: f32) {
  // expected-error@below {{wrt: argument 0 of type 'i32' has no gradient: only floating-point and complex values do}}
  %0:2 = grad.vjp @f(%x) cotangents(%c) wrt [0] : (i32, f32) -> (f32, i32)
  return
}

// -----

func.func private @f(f32, f64) -> (f32, i1)
func.func @tangent_type(%x: f32, %y: f64) {
  // expected-error@below {{tangent 0 must have type 'f64', got 'f32'}}
  %0:3 = grad.jvp @f(%x, %y) tangents(%x) wrt [1] : (f32, f64, f32) -> (f32, i1, f32)
  return
}

// -----

func.func @maps(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@below {{expects one indexing map an input, got 0 for 1}}
  %0 = grad.scatter_add bounds [4] ins(%x : tensor<4xf32>) maps [] into %z : tensor<4xf32> {
  ^bb0(%a: f32):
    %i = grad.loop_index 0
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @map_dims(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@below {{indexing map 0 must have 1 dimensions and no symbols}}
  %0 = grad.scatter_add bounds [4] ins(%x : tensor<4xf32>) maps [affine_map<(d0, d1) -> (d0)>] into %z : tensor<4xf32> {
  ^bb0(%a: f32):
    %i = grad.loop_index 0
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @map_results(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@below {{indexing map 0 must have 1 results}}
  %0 = grad.scatter_add bounds [4] ins(%x : tensor<4xf32>) maps [affine_map<(d0) -> ()>] into %z : tensor<4xf32> {
  ^bb0(%a: f32):
    %i = grad.loop_index 0
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @out_of_bounds(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@below {{loop 0 of 5 iterations reads a dimension of size 4 of input 0}}
  %0 = grad.scatter_add bounds [5] ins(%x : tensor<4xf32>) maps [affine_map<(d0) -> (d0)>] into %z : tensor<4xf32> {
  ^bb0(%a: f32):
    %i = grad.loop_index 0
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @negative_bound(%z: tensor<4xf32>) {
  // expected-error@below {{bounds must not be negative}}
  %0 = grad.scatter_add bounds [-1] maps [] into %z : tensor<4xf32> {
    %i = grad.loop_index 0
    %a = arith.constant 1.0 : f32
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @body_argument(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@below {{block argument 0 must have type 'f32', got 'f64'}}
  %0 = grad.scatter_add bounds [4] ins(%x : tensor<4xf32>) maps [affine_map<(d0) -> (d0)>] into %z : tensor<4xf32> {
  ^bb0(%a: f64):
    %i = grad.loop_index 0
    %b = arith.truncf %a : f64 to f32
    grad.yield %i, %b : index, f32
  }
  return
}

// -----

func.func @yield(%z: tensor<4xf32>) {
  // expected-error@below {{must yield 1 indices and a value of type 'f32'}}
  %0 = grad.scatter_add bounds [4] maps [] into %z : tensor<4xf32> {
    %i = grad.loop_index 0
    // expected-note@below {{yields ('index')}}
    grad.yield %i : index
  }
  return
}

// -----

func.func @loop_index(%z: tensor<4xf32>) {
  %0 = grad.scatter_add bounds [4] maps [] into %z : tensor<4xf32> {
    // expected-error@below {{loop 1 does not exist: the nest has 1 loops}}
    %i = grad.loop_index 1
    %a = arith.constant 1.0 : f32
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @nested(%z: tensor<4xf32>) {
  %0 = grad.scatter_add bounds [4] maps [] into %z : tensor<4xf32> {
    %i = grad.loop_index 0
    // expected-error@below {{cannot be nested in another}}
    %1 = grad.scatter_add bounds [4] maps [] into %z : tensor<4xf32> {
      %j = grad.loop_index 0
      %b = arith.constant 1.0 : f32
      grad.yield %j, %b : index, f32
    }
    %a = arith.constant 1.0 : f32
    grad.yield %i, %a : index, f32
  }
  return
}

// -----

func.func @init_type(%x: tensor<4xf32>) {
  // expected-error@below {{init and result must have the same type}}
  %0 = "grad.scatter_add"(%x) <{bounds = array<i64: 4>, indexing_maps = []}> ({
    %i = grad.loop_index 0
    %a = arith.constant 1.0 : f32
    grad.yield %i, %a : index, f32
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func private @row(tensor<4xf32>) -> tensor<f32>
func.func @vmap_argument(%x: tensor<8x4xf32>) {
  // expected-error@below {{batched: argument 1 does not exist, the callee has 1}}
  %0 = grad.vmap @row(%x) batched [1] size 8 : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func private @row(tensor<4xf32>) -> tensor<f32>
func.func @vmap_size(%x: tensor<8x4xf32>) {
  // expected-error@below {{argument 0 must have type 'tensor<7x4xf32>', got 'tensor<8x4xf32>'}}
  %0 = grad.vmap @row(%x) batched [0] size 7 : (tensor<8x4xf32>) -> tensor<7xf32>
  return
}

// -----

func.func private @row(tensor<4xf32>) -> f32
func.func @vmap_scalar(%x: tensor<8x4xf32>) {
  // expected-error@below {{result 0 of the callee, of type 'f32', cannot be batched}}
  %0 = grad.vmap @row(%x) batched [0] size 8 : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @vmap_callee(%x: tensor<8x4xf32>) {
  // expected-error@below {{'row' does not name a function}}
  %0 = grad.vmap @row(%x) batched [0] size 8 : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// RUN: gradc-opt %s -grad-infer-requires-grad -split-input-file | FileCheck %s

// One function, two sets of roots: the second one gets a clone.
func.func private @square_plus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0, %y : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func private @square_plus(
// CHECK-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad>, %{{.*}}: tensor<4xf32>)
// CHECK-SAME: -> (tensor<4xf32, #grad.requires_grad>, tensor<4xf32>)
// CHECK-LABEL: func private @square_plus_0(
// CHECK-SAME: %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32, #grad.requires_grad>)
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>)

// CHECK-LABEL: func @two_sets(
func.func @two_sets(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: call @square_plus(
  // CHECK: call @square_plus_0(
  // CHECK: call @square_plus(
  %0:2 = call @square_plus(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1:2 = call @square_plus(%k, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2:2 = call @square_plus(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %1#0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A public function keeps its own roots, here none.
// CHECK-LABEL: func @public(
// CHECK-SAME: %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func private @public_0(
// CHECK-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32, #grad.requires_grad>
func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @caller(
func.func @caller(%x: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32> {
  %y = tensor.cast %x : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  // CHECK: call @public_0(
  %0 = call @public(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The callee of a transform has the arguments of the transform as roots,
// whatever the outer level says of its operands.
// CHECK-LABEL: func private @loss(
// CHECK-SAME: %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32, #grad.requires_grad>) -> tensor<f32, #grad.requires_grad>
func.func private @loss(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %0 = arith.mulf %w, %w : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func @outer(
func.func @outer(%x: tensor<f32> {grad.requires_grad}, %w: tensor<f32>) -> tensor<f32> {
  // CHECK: grad.vjp @loss({{.*}}) wrt [1] : (tensor<f32, #grad.requires_grad>, tensor<f32>, tensor<f32>)
  // CHECK-SAME: -> (tensor<f32, #grad.requires_grad>, tensor<f32, #grad.requires_grad>)
  %0:2 = grad.vjp @loss(%x, %w) cotangents(%w) wrt [1] : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// A call under no_grad runs a callee that is under no_grad itself: what it
// computes is plain, what it hands through is not.
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func private @f.no_grad(
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>)
// CHECK: grad.no_grad

// CHECK-LABEL: func @call_under_no_grad(
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>)
func.func @call_under_no_grad(%x: tensor<4xf32> {grad.requires_grad}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: call @f.no_grad
  %r:2 = grad.no_grad -> tensor<4xf32>, tensor<4xf32> {
    %0:2 = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    grad.yield %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A recursive function is fine as long as no gradient goes through it.
// CHECK-LABEL: func private @count(
func.func private @count(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @count(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @plain_recursion(
func.func @plain_recursion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @count({{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = call @count(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Nested modules have functions of their own.
func.func private @f(%x: f32) -> f32 {
  return %x : f32
}
// CHECK-LABEL: module @nested
module @nested {
  // CHECK: func @f(
  // CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
  func.func @f(%x: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32, #grad.requires_grad> {
    return %x : tensor<4xf32, #grad.requires_grad>
  }
}

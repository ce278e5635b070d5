// RUN: gradc-opt %s -canonicalize -split-input-file | FileCheck %s

// Plain is a statement about one level, so the barrier stays.
// CHECK-LABEL: func @plain_operand(
func.func @plain_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[STOPPED:.*]] = grad.stop_gradient
  // CHECK: return %[[STOPPED]]
  %0 = grad.stop_gradient %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @stop_twice(
func.func @stop_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[STOPPED:.*]] = grad.stop_gradient
  // CHECK-NEXT: return %[[STOPPED]]
  %0 = grad.stop_gradient %x : tensor<4xf32> -> tensor<4xf32>
  %1 = grad.stop_gradient %0 : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// What is a constant at every level needs no barrier.
// CHECK-LABEL: func @stop_constants(
// CHECK-SAME: %[[N:.*]]: tensor<4xi64>)
func.func @stop_constants(%n: tensor<4xi64>) -> (tensor<4xi64>, f32) {
  // CHECK: %[[ONE:.*]] = arith.constant 1.0
  // CHECK-NOT: grad.stop_gradient
  // CHECK: return %[[N]], %[[ONE]]
  %one = arith.constant 1.0 : f32
  %0 = grad.stop_gradient %n : tensor<4xi64> -> tensor<4xi64>
  %1 = grad.stop_gradient %one : f32 -> f32
  return %0, %1 : tensor<4xi64>, f32
}

// A demotion is not a fold: the types differ.
// CHECK-LABEL: func @demotion(
func.func @demotion(%x: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32> {
  // CHECK: grad.stop_gradient
  %0 = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @value_of_itself(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @value_of_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: return %[[X]]
  %0 = grad.value_of %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @value_of_stopped_path(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @value_of_stopped_path(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[STOPPED:.*]] = grad.stop_gradient %[[X]]
  // CHECK: return %[[STOPPED]]
  %0 = grad.stop_gradient %y : tensor<4xf32> -> tensor<4xf32>
  %1 = grad.value_of %x, %0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @promote_same(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @promote_same(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: return %[[X]]
  %0 = grad.promote %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

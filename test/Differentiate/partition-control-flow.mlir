// RUN: gradc-opt %s --grad-tape --split-input-file | FileCheck %s

// The number that decides a branch is handed over as a tensor.
// CHECK-LABEL: func.func @branch.forward(
// CHECK: %[[C:.*]] = arith.cmpf
// CHECK: scf.if %[[C]]
// CHECK: %[[BOX:.*]] = tensor.from_elements %[[C]] : tensor<i1>
// CHECK: return %{{.*}}, %[[BOX]]
// CHECK-LABEL: func.func @branch.backward(
// CHECK-SAME: tensor<i1>
// CHECK: %[[C:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: scf.if %[[C]]
func.func @branch(%x: tensor<4xf32> {grad.requires_grad}, %t: tensor<64x64xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce ins(%t : tensor<64x64xf32>) outs(%init : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
  %s = tensor.extract %sum[] : tensor<f32>
  %c = arith.cmpf ogt, %s, %zero : f32
  %r = scf.if %c -> tensor<4xf32> {
    %0 = math.exp %x : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// What a loop saves of each iteration is a residual where its size is known.
// CHECK-LABEL: func.func @static.forward(
// CHECK-SAME: -> (tensor<64x64xf32>, tensor<8x64x64xf32>)
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @static.backward(
// CHECK-SAME: tensor<8x64x64xf32>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @static(%x: tensor<64x64xf32> {grad.requires_grad}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%y = %x) -> tensor<64x64xf32> {
    %0 = math.sin %y : tensor<64x64xf32>
    scf.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----

// Else the backward function runs the loop again.
// CHECK-LABEL: func.func @dynamic.forward(
// CHECK-SAME: -> (tensor<64x64xf32>, tensor<i64>)
// CHECK-NOT: tensor<?x64x64xf32>
// CHECK-LABEL: func.func @dynamic.backward(
// CHECK: tensor.empty(%{{.*}}) : tensor<?x64x64xf32>
// CHECK-COUNT-2: scf.for
func.func @dynamic(%x: tensor<64x64xf32> {grad.requires_grad}, %t: tensor<i64>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %n = tensor.extract %t[] : tensor<i64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<64x64xf32> : i64 {
    %0 = math.sin %y : tensor<64x64xf32>
    scf.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

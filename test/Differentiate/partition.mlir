// RUN: gradc-opt %s --grad-tape | FileCheck %s

// What the backward function reads of the forward one is a residual: n >= 0 is
// argument n, -1 - k result k of the forward function. `cos x` is computed
// from an argument, `exp x` is the result itself.
// CHECK-LABEL: func.func @results.forward(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32) -> (f32, f32)
// CHECK-DAG: %[[SIN:.*]] = math.sin %[[X]]
// CHECK-DAG: %[[EXP:.*]] = math.exp %[[Y]]
// CHECK: return %[[SIN]], %[[EXP]]
// CHECK-LABEL: func.func @results.backward(
// CHECK-SAME: grad.residuals = array<i64: {{-2, 0|0, -2}}>
// CHECK-NOT: math.exp
func.func @results(%x: f32 {grad.requires_grad}, %y: f32 {grad.requires_grad})
    -> (f32, f32) {
  %0 = math.sin %x : f32
  %1 = math.exp %y : f32
  return %0, %1 : f32, f32
}

// A residual that is no result becomes one more: result 1, that is -2. A number
// is handed over as a tensor.
// CHECK-LABEL: func.func @extra.forward(
// CHECK-SAME: %[[X:[^:]+]]: f32) -> (f32, tensor<f32>)
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[Y:.*]] = math.sin %[[EXP]]
// CHECK: %[[BOX:.*]] = tensor.from_elements %[[EXP]]
// CHECK: return %[[Y]], %[[BOX]]
// CHECK-LABEL: func.func @extra.backward(
// CHECK-SAME: %[[BOX:[^:]+]]: tensor<f32>, %[[CT:[^:]+]]: f32) -> f32
// CHECK-SAME: grad.residuals = array<i64: -2>
// CHECK: %[[EXP:.*]] = tensor.extract %[[BOX]][]
// CHECK: %[[COS:.*]] = math.cos %[[EXP]]
// CHECK: %[[D:.*]] = arith.mulf %[[CT]], %[[COS]]
// CHECK: %[[DX:.*]] = arith.mulf %[[D]], %[[EXP]]
// CHECK: return %[[DX]]
func.func @extra(%x: f32 {grad.requires_grad}) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.sin %0 : f32
  return %1 : f32
}

// Constants and fills are made again, not saved.
// CHECK-LABEL: func.func @cheap.forward(
// CHECK-SAME: -> tensor<4xf32>
// CHECK: linalg.fill
// CHECK-LABEL: func.func @cheap.backward(
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-SAME: grad.residuals = array<i64>
// CHECK: %[[TWOS:.*]] = linalg.fill
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[TWOS]]
// CHECK: return %[[DX]]
func.func @cheap(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %twos = linalg.fill ins(%two : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = arith.mulf %x, %twos : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An empty tensor of dynamic shape needs its size: it stays where it is read.
// CHECK-LABEL: func.func @dynamic.forward(
// CHECK: tensor.empty(
// CHECK-LABEL: func.func @dynamic.backward(
// CHECK-NOT: tensor.empty
// CHECK: return
func.func @dynamic(%x: f32 {grad.requires_grad}, %k: tensor<?xi32>, %n: index)
    -> (f32, tensor<?xi32>) {
  %0 = math.exp %x : f32
  %e = tensor.empty(%n) : tensor<?xi32>
  %1 = linalg.copy ins(%k : tensor<?xi32>) outs(%e : tensor<?xi32>)
      -> tensor<?xi32>
  return %0, %1 : f32, tensor<?xi32>
}

// An assertion is about the call of the function: it runs forward.
// CHECK-LABEL: func.func @asserts.forward(
// CHECK: cf.assert
// CHECK-LABEL: func.func @asserts.backward(
// CHECK-NOT: cf.assert
// CHECK: return
func.func @asserts(%x: f32 {grad.requires_grad}, %ok: i1) -> f32 {
  cf.assert %ok, "not ok"
  %0 = math.exp %x : f32
  return %0 : f32
}

// A result that is an argument, or returned twice, has a cotangent a slot.
// CHECK-LABEL: func.func @slots.forward(
// CHECK-SAME: %[[X:[^:]+]]: f32) -> (f32, f32, f32)
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: return %[[EXP]], %[[EXP]], %[[X]]
// CHECK-LABEL: func.func @slots.backward(
// CHECK-SAME: %[[EXP:[^:]+]]: f32, %[[CT0:[^:]+]]: f32, %[[CT1:[^:]+]]: f32,
// CHECK-SAME: %[[CT2:[^:]+]]: f32) -> f32
// CHECK-SAME: grad.cotangents = array<i64: 0, 1, 2>
// CHECK-SAME: grad.residuals = array<i64: -1>
// CHECK: %[[CT:.*]] = arith.addf %[[CT0]], %[[CT1]]
// CHECK: %[[D:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK: %[[DX:.*]] = arith.addf %[[CT2]], %[[D]]
// CHECK: return %[[DX]]
func.func @slots(%x: f32 {grad.requires_grad}) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  return %0, %0, %x : f32, f32, f32
}

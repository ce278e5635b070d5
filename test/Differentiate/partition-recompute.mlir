// RUN: gradc-opt %s --grad-tape | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Of `m = 2 x` (cheap, read by the gradient of exp m * sin m) nothing is saved:
// it is computed again from `x`, which the gradient of x * x reads anyhow.
// CHECK-LABEL: func.func @cheap.forward(
// CHECK-SAME: -> (tensor<4096xf32>, tensor<4096xf32>)
// CHECK-LABEL: func.func @cheap.backward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4096xf32>
// CHECK-SAME: grad.residuals = array<i64: 0>
// CHECK: arith.mulf %[[X]]
func.func @cheap(%x: tensor<4096xf32> {grad.requires_grad})
    -> (tensor<4096xf32>, tensor<4096xf32>) {
  %two = arith.constant dense<2.0> : tensor<4096xf32>
  %m = arith.mulf %x, %two : tensor<4096xf32>
  %s = math.sin %m : tensor<4096xf32>
  %q = arith.mulf %x, %x : tensor<4096xf32>
  return %s, %q : tensor<4096xf32>, tensor<4096xf32>
}

// A byte a mask instead of four a value: the gradient of `select` reads the
// comparison alone.
// CHECK-LABEL: func.func @mask.forward(
// CHECK-SAME: -> (tensor<4096xf32>, tensor<4096xi1>)
// CHECK-LABEL: func.func @mask.backward(
// CHECK-SAME: %[[MASK:[^:]+]]: tensor<4096xi1>
// CHECK-SAME: grad.residuals = array<i64: -2>
func.func @mask(%x: tensor<4096xf32> {grad.requires_grad}, %y: tensor<4096xf32>)
    -> tensor<4096xf32> {
  %zero = arith.constant dense<0.0> : tensor<4096xf32>
  %h = arith.addf %x, %y : tensor<4096xf32>
  %p = arith.cmpf ogt, %h, %zero : tensor<4096xf32>
  %r = arith.select %p, %h, %zero : tensor<4096xi1>, tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// A sum is not computed again, though `x` is there: its result is small.
// CHECK-LABEL: func.func @sum.forward(
// CHECK-SAME: -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-LABEL: func.func @sum.backward(
// CHECK-NOT: reduction
// CHECK: return
func.func @sum(%x: tensor<64x64xf32>, %w: tensor<64xf32> {grad.requires_grad})
    -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %acc, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %r = arith.mulf %w, %s : tensor<64xf32>
  return %r : tensor<64xf32>
}

// A draw lives no longer than the call unless it is saved: of `draw < 1/2` the
// mask is saved, a byte an element.
// CHECK-LABEL: func.func @draw.forward(
// CHECK-SAME: -> (tensor<4096xf32>, tensor<4096xi1>)
// CHECK-LABEL: func.func @draw.backward(
// CHECK-SAME: grad.residuals = array<i64: -2>
func.func @draw(%x: tensor<4096xf32> {grad.requires_grad},
                %draw: tensor<4096xf32> {grad.temporary}) -> tensor<4096xf32> {
  %zero = arith.constant dense<0.0> : tensor<4096xf32>
  %half = arith.constant dense<0.5> : tensor<4096xf32>
  %p = arith.cmpf olt, %draw, %half : tensor<4096xf32>
  %r = arith.select %p, %x, %zero : tensor<4096xi1>, tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// What only a stopped path reads is not saved, and nothing of it runs backward.
// CHECK-LABEL: func.func @stopped.backward(
// CHECK-SAME: grad.residuals = array<i64: 1>
// CHECK-NOT: math.exp
// CHECK: return
func.func @stopped(%x: tensor<4096xf32> {grad.requires_grad},
                   %k: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = math.exp %x : tensor<4096xf32>
  %s = grad.stop_gradient %e : tensor<4096xf32> -> tensor<4096xf32>
  %m = math.exp %s : tensor<4096xf32>
  %p = arith.mulf %x, %k : tensor<4096xf32>
  %r = arith.addf %m, %p : tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// A cheap chain that is long enough costs more than what it saves.
// CHECK-LABEL: func.func @chain.backward(
// CHECK-NOT: math.sqrt
// CHECK: return
func.func @chain(%x: tensor<4096xf32> {grad.requires_grad})
    -> (tensor<4096xf32>, tensor<4096xf32>) {
  %a = arith.mulf %x, %x : tensor<4096xf32>
  %c = grad.stop_gradient %a : tensor<4096xf32> -> tensor<4096xf32>
  %0 = math.sqrt %c : tensor<4096xf32>
  %1 = arith.divf %0, %c : tensor<4096xf32>
  %2 = math.sqrt %1 : tensor<4096xf32>
  %3 = arith.divf %2, %1 : tensor<4096xf32>
  %4 = math.sqrt %3 : tensor<4096xf32>
  %5 = arith.mulf %x, %4 : tensor<4096xf32>
  return %5, %a : tensor<4096xf32>, tensor<4096xf32>
}

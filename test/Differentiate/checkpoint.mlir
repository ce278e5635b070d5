// RUN: gradc-opt %s --grad-tape | FileCheck %s --check-prefix=TAPE
// RUN: gradc-opt %s --grad-joint --grad-gradient | FileCheck %s --check-prefix=JOINT

// Nothing inside the region is a residual: `exp` runs once on either side.
// TAPE-LABEL: func.func @nothing.forward(
// TAPE-SAME: -> tensor<4096xf32>
// TAPE: math.exp
// TAPE-LABEL: func.func @nothing.backward(
// TAPE-SAME: %[[X:[^:]+]]: tensor<4096xf32>
// TAPE-SAME: grad.residuals = array<i64: 0>
// TAPE: %[[LATE:.*]] = grad.after %[[X]]
// TAPE: math.exp %[[LATE]]
// TAPE-NOT: math.exp
// TAPE: return

// In one function the second computation waits for the cotangent, and no pass
// takes it for the first.
// JOINT-LABEL: func.func @nothing.joint(
// JOINT-SAME: %[[X:[^:]+]]: tensor<4096xf32>, %[[CT:[^:]+]]: tensor<4096xf32>)
// JOINT: math.exp %[[X]]
// JOINT: %[[LATE:.*]] = grad.after %[[X]] awaits %[[CT]]
// JOINT: math.exp %[[LATE]]
func.func @nothing(%x: tensor<4096xf32> {grad.requires_grad})
    -> tensor<4096xf32> {
  %r = grad.checkpoint -> tensor<4096xf32> attributes {policy = "nothing"} {
    %0 = math.exp %x : tensor<4096xf32>
    %1 = math.sin %0 : tensor<4096xf32>
    grad.yield %1 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// The product is saved, the sine is not.
// TAPE-LABEL: func.func @dots.forward(
// TAPE-SAME: -> (tensor<64x64xf32>, tensor<64x64xf32>)
// TAPE: %[[DOT:.*]] = linalg.matmul
// TAPE: %[[SIN:.*]] = math.sin
// TAPE: return %{{.*}}, %[[DOT]]
// TAPE-LABEL: func.func @dots.backward(
// TAPE: math.sin
// TAPE: return
func.func @dots(%x: tensor<64x64xf32> {grad.requires_grad},
                %w: tensor<64x64xf32> {grad.requires_grad})
    -> tensor<64x64xf32> {
  %r = grad.checkpoint -> tensor<64x64xf32> attributes {policy = "dots"} {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>)
        outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = math.sin %0 : tensor<64x64xf32>
    %2 = math.exp %1 : tensor<64x64xf32>
    grad.yield %2 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// "everything" is as good as no region.
// TAPE-LABEL: func.func @everything.forward(
// TAPE-SAME: -> (tensor<4096xf32>, tensor<4096xf32>)
// TAPE-LABEL: func.func @everything.backward(
// TAPE-NOT: math.exp
// TAPE: return
func.func @everything(%x: tensor<4096xf32> {grad.requires_grad})
    -> tensor<4096xf32> {
  %r = grad.checkpoint -> tensor<4096xf32> attributes {policy = "everything"} {
    %0 = math.exp %x : tensor<4096xf32>
    %1 = math.sin %0 : tensor<4096xf32>
    grad.yield %1 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// The inner region is computed for the outer one, and once more for itself.
// TAPE-LABEL: func.func @nested.backward(
// TAPE-SAME: grad.residuals = array<i64: 0>
// TAPE-COUNT-2: math.exp
// TAPE-NOT: math.exp
// TAPE: return
func.func @nested(%x: tensor<4096xf32> {grad.requires_grad})
    -> tensor<4096xf32> {
  %r = grad.checkpoint -> tensor<4096xf32> attributes {policy = "nothing"} {
    %i = grad.checkpoint -> tensor<4096xf32> attributes {policy = "nothing"} {
      %0 = math.exp %x : tensor<4096xf32>
      %1 = math.sin %0 : tensor<4096xf32>
      grad.yield %1 : tensor<4096xf32>
    }
    %2 = math.sin %i : tensor<4096xf32>
    grad.yield %2 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

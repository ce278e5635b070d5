// RUN: gradc-opt %s --grad-strip | FileCheck %s

// Types are plain, and what only stopped or renamed a gradient is gone.
// CHECK-LABEL: func @barriers
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = math.exp %[[X]] : tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @barriers(%x: tensor<4xf32, #grad.requires_grad> {grad.requires_grad}) -> tensor<4xf32> {
  %y = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
  %z = math.exp %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// Regions dissolve into the code around them.
// CHECK-LABEL: func @regions
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[E:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[R:.*]] = math.sin %[[E]]
// CHECK-NEXT: return %[[R]]
func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = grad.no_grad -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    grad.yield %e : tensor<4xf32>
  }
  %z = math.sin %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

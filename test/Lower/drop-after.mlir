// RUN: gradc-opt %s --grad-drop-after | FileCheck %s

// CHECK-LABEL: func.func @drop(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>)
// CHECK: math.exp %[[X]]
func.func @drop(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %0 = grad.after %x awaits %ct : tensor<4xf32>, tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

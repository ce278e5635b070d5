// RUN: gradc-opt %s --grad-gradient | FileCheck %s

func.func private @late(%x: tensor<4xf32>, %k: tensor<4xf32>, %ct: tensor<f32>)
    -> tensor<4xf32> {
  %0 = grad.after %x awaits %ct : tensor<4xf32>, tensor<f32>
  %1 = grad.after %k awaits %ct : tensor<4xf32>, tensor<f32>
  %2 = math.exp %1 : tensor<4xf32>
  %3 = arith.mulf %0, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// What waits for every row, and is alike for all of them, is computed once.
// CHECK-LABEL: func.func @after(
// CHECK-SAME: %[[X:[^:]+]]: tensor<3x4xf32>, %[[K:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<3xf32>)
// CHECK-DAG: grad.after %[[X]] awaits %[[CT]] : tensor<3x4xf32>, tensor<3xf32>
// CHECK-DAG: %[[LATE:.*]] = grad.after %[[K]] awaits %[[CT]] : tensor<4xf32>, tensor<3xf32>
// CHECK: math.exp %[[LATE]] : tensor<4xf32>
func.func @after(%x: tensor<3x4xf32>, %k: tensor<4xf32>, %ct: tensor<3xf32>)
    -> tensor<3x4xf32> {
  %r = grad.vmap @late(%x, %k, %ct) batched [0, 2] size 3
      : (tensor<3x4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

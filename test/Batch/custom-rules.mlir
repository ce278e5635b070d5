// RUN: gradc-opt %s --grad-differentiate | FileCheck %s

// The batched function has the batched rule. Rows share %y: its gradient is a
// sum.
// CHECK: func.func private @f.vmap(%{{.*}}: tensor<5x4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<5x4xf32>
// CHECK-SAME: grad.custom_vjp = [@f_fwd.rows, @f_bwd.rows]
// CHECK: func.func private @f_fwd.rows(%{{.*}}: tensor<5x4xf32>, %{{.*}}: tensor<4xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>)
// CHECK: func.func private @f_bwd.rows(%{{.*}}: tensor<5x4xf32>, %{{.*}}: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>)
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>
    attributes {grad.custom_vjp = [@f_fwd, @f_bwd]} {
  return %x : tensor<4xf32>
}
func.func private @f_fwd(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @f_bwd(%x: tensor<4xf32>, %ct: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  return %ct, %x : tensor<4xf32>, tensor<4xf32>
}

func.func @rows(%x: tensor<5x4xf32>, %y: tensor<4xf32>) -> tensor<5x4xf32> {
  %r = grad.vmap @f(%x, %y) batched [0] size 5
      : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

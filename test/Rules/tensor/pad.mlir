// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The source gets its slice of the cotangent, the padding value the sum of the
// rest.
func.func private @f(%x: tensor<2x3xf32>, %s: f32) -> tensor<4x4xf32> {
  %r = tensor.pad %x low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<2x3xf32> to tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: f32,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4x4xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][1, 0] [2, 3] [1, 1]
// CHECK: %[[HOLE:.*]] = tensor.insert_slice %{{.*}} into %[[CT]][1, 0] [2, 3] [1, 1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%[[HOLE]] :
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DX]], %[[DS]]
func.func @vjp(%x: tensor<2x3xf32>, %s: f32, %ct: tensor<4x4xf32>)
    -> (tensor<2x3xf32>, f32) {
  %r, %dx, %ds = grad.vjp @f(%x, %s) cotangents(%ct) wrt [0, 1]
      : (tensor<2x3xf32>, f32, tensor<4x4xf32>)
      -> (tensor<4x4xf32>, tensor<2x3xf32>, f32)
  return %dx, %ds : tensor<2x3xf32>, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: f32,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<2x3xf32>, %[[TS:[^:]+]]: f32
// CHECK: %[[DR:.*]] = tensor.pad %[[TX]] low[1, 0] high[1, 1]
// CHECK: tensor.yield %[[TS]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<2x3xf32>, %s: f32, %tx: tensor<2x3xf32>, %ts: f32)
    -> tensor<4x4xf32> {
  %r, %dr = grad.jvp @f(%x, %s) tangents(%tx, %ts) wrt [0, 1]
      : (tensor<2x3xf32>, f32, tensor<2x3xf32>, f32)
      -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %dr : tensor<4x4xf32>
}

// A constant padding value becomes zero in the tangent.
func.func private @constant(%x: tensor<2xf32>) -> tensor<3xf32> {
  %r = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    %c = arith.constant 7.0 : f32
    tensor.yield %c : f32
  } : tensor<2xf32> to tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @vjp_constant(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %[[CT:[^:]+]]: tensor<3xf32>
// CHECK-NEXT: %[[DX:.*]] = tensor.extract_slice %[[CT]][0] [2] [1]
// CHECK-NEXT: return %[[DX]]
func.func @vjp_constant(%x: tensor<2xf32>, %ct: tensor<3xf32>)
    -> tensor<2xf32> {
  %r, %dx = grad.vjp @constant(%x) cotangents(%ct) wrt [0]
      : (tensor<2xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>)
  return %dx : tensor<2xf32>
}

// CHECK-LABEL: func.func @jvp_constant(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %[[T:[^:]+]]: tensor<2xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[DR:.*]] = tensor.pad %[[T]] low[0] high[1]
// CHECK: tensor.yield %[[ZERO]]
// CHECK: return %[[DR]]
func.func @jvp_constant(%x: tensor<2xf32>, %t: tensor<2xf32>) -> tensor<3xf32> {
  %r, %dr = grad.jvp @constant(%x) tangents(%t) wrt [0]
      : (tensor<2xf32>, tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %dr : tensor<3xf32>
}

// Padding that depends on the position is a tensor of its own, with a hole.
func.func private @computed(%x: tensor<2xf32>, %s: f32) -> tensor<4xf32> {
  %r = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %0 = arith.mulf %s, %s : f32
    tensor.yield %0 : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_computed(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>, %[[S:[^:]+]]: f32, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = tensor.extract_slice %[[CT]][1] [2] [1]
// CHECK: %[[HOLE:.*]] = tensor.insert_slice %{{.*}} into %[[CT]][1] [2] [1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[HOLE]] :
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DX]], %[[DS]]
func.func @vjp_computed(%x: tensor<2xf32>, %s: f32, %ct: tensor<4xf32>)
    -> (tensor<2xf32>, f32) {
  %r, %dx, %ds = grad.vjp @computed(%x, %s) cotangents(%ct) wrt [0, 1]
      : (tensor<2xf32>, f32, tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, f32)
  return %dx, %ds : tensor<2xf32>, f32
}

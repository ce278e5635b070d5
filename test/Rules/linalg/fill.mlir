// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The scalar gets the sum of the cotangent; the overwritten tensor gets nothing.
func.func private @f(%s: f32, %d: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.fill ins(%s : f32) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[CT]] :
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: %[[DD:.*]] = linalg.fill
// CHECK: return %[[DS]], %[[DD]]
func.func @vjp(%s: f32, %d: tensor<4xf32>, %ct: tensor<4xf32>)
    -> (f32, tensor<4xf32>) {
  %r, %ds, %dd = grad.vjp @f(%s, %d) cotangents(%ct) wrt [0, 1]
      : (f32, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, f32, tensor<4xf32>)
  return %ds, %dd : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: f32, %{{[^:]+}}: tensor<4xf32>, %[[TS:[^:]+]]: f32
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[TS]] :
// CHECK: return %[[DR]]
func.func @jvp(%s: f32, %d: tensor<4xf32>, %ts: f32, %td: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%s, %d) tangents(%ts, %td) wrt [0, 1]
      : (f32, tensor<4xf32>, f32, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

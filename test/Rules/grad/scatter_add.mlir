// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// Becomes a gather of the cotangent, multiplied as the added value says; the
// destination keeps the cotangent. The tangent is the same scatter.
func.func private @f(%d: tensor<5xf32>, %k: tensor<4xi64>, %v: tensor<4xf32>)
    -> tensor<5xf32> {
  %r = grad.scatter_add bounds [4] ins(%k, %v : tensor<4xi64>, tensor<4xf32>)
      maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
      into %d : tensor<5xf32> {
  ^bb0(%a: i64, %b: f32):
    %0 = arith.index_cast %a : i64 to index
    %1 = math.exp %b : f32
    grad.yield %0, %1 : index, f32
  }
  return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<5xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[CT:[^:]+]]: tensor<5xf32>
// CHECK: %[[GATHERED:.*]] = linalg.generic {{.*}} ins(%[[K]] :
// CHECK: tensor.extract %[[CT]][
// CHECK: %[[DV:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[GATHERED]] :
// CHECK: arith.mulf
// CHECK: return %[[CT]], %[[DV]]
func.func @vjp(%d: tensor<5xf32>, %k: tensor<4xi64>, %v: tensor<4xf32>,
               %ct: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<4xf32>) {
  %r, %dd, %dv = grad.vjp @f(%d, %k, %v) cotangents(%ct) wrt [0, 2]
      : (tensor<5xf32>, tensor<4xi64>, tensor<4xf32>, tensor<5xf32>)
      -> (tensor<5xf32>, tensor<5xf32>, tensor<4xf32>)
  return %dd, %dv : tensor<5xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[D:[^:]+]]: tensor<5xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %[[V:[^:]+]]: tensor<4xf32>, %[[TD:[^:]+]]: tensor<5xf32>,
// CHECK-SAME: %[[TV:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = grad.scatter_add bounds [4] ins(%[[K]], %[[V]], %[[TV]] : {{.*}} into %[[TD]]
// CHECK-NEXT: ^bb0(%[[AT:[^:]+]]: i64, %[[A:[^:]+]]: f32, %[[T:[^:]+]]: f32):
// CHECK: %[[EXP:.*]] = math.exp %[[A]]
// CHECK: %[[D:.*]] = arith.mulf %[[T]], %[[EXP]]
// CHECK: grad.yield %{{.*}}, %[[D]]
// CHECK: return %[[DR]]
func.func @jvp(%d: tensor<5xf32>, %k: tensor<4xi64>, %v: tensor<4xf32>,
               %td: tensor<5xf32>, %tv: tensor<4xf32>)
    -> tensor<5xf32> {
  %r, %dr = grad.jvp @f(%d, %k, %v) tangents(%td, %tv) wrt [0, 2]
      : (tensor<5xf32>, tensor<4xi64>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>)
      -> (tensor<5xf32>, tensor<5xf32>)
  return %dr : tensor<5xf32>
}

// What the body reads from outside gets a gradient when no input does.
func.func private @capture(%d: tensor<5xf32>, %k: tensor<4xi64>, %s: f32)
    -> tensor<5xf32> {
  %r = grad.scatter_add bounds [4] ins(%k : tensor<4xi64>)
      maps [affine_map<(d0) -> (d0)>] into %d : tensor<5xf32> {
  ^bb0(%a: i64):
    %0 = arith.index_cast %a : i64 to index
    grad.yield %0, %s : index, f32
  }
  return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @vjp_capture(
// CHECK-SAME: %{{[^:]+}}: tensor<5xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %{{[^:]+}}: f32, %[[CT:[^:]+]]: tensor<5xf32>
// CHECK: %[[GATHERED:.*]] = linalg.generic {{.*}} ins(%[[K]] :
// CHECK: tensor.extract %[[CT]][
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[GATHERED]] :
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DS]]
func.func @vjp_capture(%d: tensor<5xf32>, %k: tensor<4xi64>, %s: f32,
                       %ct: tensor<5xf32>)
    -> f32 {
  %r, %ds = grad.vjp @capture(%d, %k, %s) cotangents(%ct) wrt [2]
      : (tensor<5xf32>, tensor<4xi64>, f32, tensor<5xf32>)
      -> (tensor<5xf32>, f32)
  return %ds : f32
}

// CHECK-LABEL: func.func @jvp_capture(
// CHECK-SAME: %{{[^:]+}}: tensor<5xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %{{[^:]+}}: f32, %[[TS:[^:]+]]: f32
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DR:.*]] = grad.scatter_add bounds [4] ins(%[[K]] : {{.*}} into %[[ZEROS]]
// CHECK: grad.yield %{{.*}}, %[[TS]]
// CHECK: return %[[DR]]
func.func @jvp_capture(%d: tensor<5xf32>, %k: tensor<4xi64>, %s: f32, %ts: f32)
    -> tensor<5xf32> {
  %r, %dr = grad.jvp @capture(%d, %k, %s) tangents(%ts) wrt [2]
      : (tensor<5xf32>, tensor<4xi64>, f32, f32)
      -> (tensor<5xf32>, tensor<5xf32>)
  return %dr : tensor<5xf32>
}

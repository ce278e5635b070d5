// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The position in the loops is a constant at each point.
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[CT]] :
// CHECK: %[[INDEX:.*]] = linalg.index 0
// CHECK: %[[INT:.*]] = arith.index_cast %[[INDEX]]
// CHECK: %[[FLOAT:.*]] = arith.sitofp %[[INT]]
// CHECK: arith.mulf %{{.*}}, %[[FLOAT]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[TX]] :
// CHECK: linalg.index 0
// CHECK: arith.mulf
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

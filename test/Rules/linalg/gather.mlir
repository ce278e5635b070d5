// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// A read at computed positions becomes a scatter_add. The assertion is not
// repeated: the op itself has made it.
func.func private @f(%t: tensor<5x3xf32>, %k: tensor<4xi64>)
    -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {
      indexing_maps = [#row, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%k : tensor<4xi64>)
    outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %0 = arith.constant 5 : i64
    %1 = arith.cmpi ult, %a, %0 : i64
    cf.assert %1, "index out of range"
    %2 = arith.index_cast %a : i64 to index
    %3 = linalg.index 1 : index
    %4 = tensor.extract %t[%2, %3] : tensor<5x3xf32>
    linalg.yield %4 : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<5x3xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DT:.*]] = grad.scatter_add bounds [4, 3] ins(%[[K]], %[[CT]] : {{.*}}) maps {{.*}} into %[[ZEROS]]
// CHECK-NEXT: ^bb0(%[[AT:[^:]+]]: i64, %[[C:[^:]+]]: f32):
// CHECK-NEXT: %[[ROW:.*]] = arith.index_cast %[[AT]]
// CHECK-NEXT: %[[COL:.*]] = grad.loop_index 1
// CHECK-NEXT: grad.yield %[[ROW]], %[[COL]], %[[C]]
// CHECK: return %[[DT]]
func.func @vjp(%t: tensor<5x3xf32>, %k: tensor<4xi64>, %ct: tensor<4x3xf32>)
    -> tensor<5x3xf32> {
  %r, %dt = grad.vjp @f(%t, %k) cotangents(%ct) wrt [0]
      : (tensor<5x3xf32>, tensor<4xi64>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<5x3xf32>)
  return %dt : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<5x3xf32>, %[[K:[^:]+]]: tensor<4xi64>,
// CHECK-SAME: %[[TT:[^:]+]]: tensor<5x3xf32>
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[K]] :
// CHECK: tensor.extract %[[TT]][
// CHECK: return %[[DR]]
func.func @jvp(%t: tensor<5x3xf32>, %k: tensor<4xi64>, %tt: tensor<5x3xf32>)
    -> tensor<4x3xf32> {
  %r, %dr = grad.jvp @f(%t, %k) tangents(%tt) wrt [0]
      : (tensor<5x3xf32>, tensor<4xi64>, tensor<5x3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dr : tensor<4x3xf32>
}

// A second gather adds to the scatter of the first.
func.func private @again(%t: tensor<4xf32>, %k: tensor<4xi64>)
    -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#one, #one],
      iterator_types = ["parallel"]
  } ins(%k : tensor<4xi64>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %0 = arith.index_cast %a : i64 to index
    %1 = linalg.index 0 : index
    %2 = tensor.extract %t[%0] : tensor<4xf32>
    %3 = tensor.extract %t[%1] : tensor<4xf32>
    %4 = arith.mulf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_again(
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[FIRST:.*]] = grad.scatter_add {{.*}} into %[[ZEROS]]
// CHECK: %[[DT:.*]] = grad.scatter_add {{.*}} into %[[FIRST]]
// CHECK: return %[[DT]]
func.func @vjp_again(%t: tensor<4xf32>, %k: tensor<4xi64>, %ct: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dt = grad.vjp @again(%t, %k) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dt : tensor<4xf32>
}

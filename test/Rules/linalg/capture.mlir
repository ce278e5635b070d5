// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A scalar that the body reads from outside is an operand that every loop
// broadcasts.
func.func private @f(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: f32,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DS]]
func.func @vjp(%x: tensor<4xf32>, %s: f32, %ct: tensor<4xf32>) -> f32 {
  %r, %ds = grad.vjp @f(%x, %s) cotangents(%ct) wrt [1]
      : (tensor<4xf32>, f32, tensor<4xf32>) -> (tensor<4xf32>, f32)
  return %ds : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: f32, %[[TS:[^:]+]]: f32
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %{{.*}}: f32):
// CHECK: arith.mulf %[[TS]], %[[A]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %s: f32, %ts: f32) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x, %s) tangents(%ts) wrt [1]
      : (tensor<4xf32>, f32, f32) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// So is a scalar operand.
func.func private @operand(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#none, #id, #id],
      iterator_types = ["parallel"]
  } ins(%s, %x : f32, tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%b: f32, %a: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_operand(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: f32,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[DS:.*]] = tensor.extract %[[SUM]][]
// CHECK: return %[[DS]]
func.func @vjp_operand(%x: tensor<4xf32>, %s: f32, %ct: tensor<4xf32>) -> f32 {
  %r, %ds = grad.vjp @operand(%x, %s) cotangents(%ct) wrt [1]
      : (tensor<4xf32>, f32, tensor<4xf32>) -> (tensor<4xf32>, f32)
  return %ds : f32
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A cotangent that another use of the operand has left is added to in place, in
// the nest that computes the next one.
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT0:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %[[CT1:[^:]+]]: tensor<4xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]], %[[CT0]] : {{.*}} outs(%[[CT1]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[C:[^:]+]]: f32, %[[OUT:[^:]+]]: f32):
// CHECK-NEXT: %[[COS:.*]] = math.cos %[[A]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[C]], %[[COS]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[OUT]], %[[D]]
// CHECK-NEXT: linalg.yield %[[SUM]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %ct0: tensor<4xf32>, %ct1: tensor<4xf32>)
    -> tensor<4xf32> {
  %r:2, %dx = grad.vjp @f(%x) cotangents(%ct0, %ct1) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

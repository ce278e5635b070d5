// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The gradient goes to the winner, whose position is a result; the tangent comes
// from there.
func.func private @f(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zi = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %zj = arith.constant 0 : i64
  %ej = tensor.empty() : tensor<4xi64>
  %j = linalg.fill ins(%zj : i64) outs(%ej : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = linalg.generic {
      indexing_maps = [#id, #row, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i, %j : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.cmpf ogt, %a, %o : f32
    %3 = arith.select %2, %a, %o : f32
    %4 = arith.select %2, %1, %p : i64
    linalg.yield %3, %4 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[MAX:.*]]:2 = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[CT]], %[[MAX]]#1 :
// CHECK-NEXT: ^bb0(%[[C:[^:]+]]: f32, %[[WINNER:[^:]+]]: i64, %{{.*}}: f32):
// CHECK-NEXT: %[[INDEX:.*]] = linalg.index 1
// CHECK-NEXT: %[[HERE:.*]] = arith.index_cast %[[INDEX]]
// CHECK-NEXT: %[[WINS:.*]] = arith.cmpi eq, %[[HERE]], %[[WINNER]]
// CHECK-NEXT: %[[D:.*]] = arith.select %[[WINS]], %[[C]], %{{.*}}
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x3xf32>, %ct: tensor<4xf32>) -> tensor<4x3xf32> {
  %r:2, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xi64>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[MAX:.*]]:2 = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[TX]], %[[MAX]]#1 :
// CHECK-NEXT: ^bb0(%[[T:[^:]+]]: f32, %[[WINNER:[^:]+]]: i64, %[[OUT:[^:]+]]: f32):
// CHECK: %[[WINS:.*]] = arith.cmpi eq, %{{.*}}, %[[WINNER]]
// CHECK: %[[D:.*]] = arith.select %[[WINS]], %[[T]], %{{.*}}
// CHECK: arith.addf %[[OUT]], %[[D]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>) -> tensor<4xf32> {
  %r:2, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>)
      -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

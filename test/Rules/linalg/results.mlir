// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// One nest an operand serves all results.
func.func private @f(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4x3xf32>) {
  %zi = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %r:2 = linalg.generic {
      indexing_maps = [#id, #row, #id],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i, %e : tensor<4xf32>, tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = math.sin %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1, %0 : f32, f32
  } -> (tensor<4xf32>, tensor<4x3xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT0:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %[[CT1:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[CT0]], %[[CT1]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[C0:[^:]+]]: f32, %[[C1:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[C1]], %[[C0]]
// CHECK-NEXT: %[[COS:.*]] = math.cos %[[A]]
// CHECK-NEXT: arith.mulf %[[C]], %[[COS]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x3xf32>, %ct0: tensor<4xf32>, %ct1: tensor<4x3xf32>)
    -> tensor<4x3xf32> {
  %r:2, %dx = grad.vjp @f(%x) cotangents(%ct0, %ct1) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4x3xf32>)
      -> (tensor<4xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DR0:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[TX]] :
// CHECK: arith.addf
// CHECK: %[[DR1:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[TX]] :
// CHECK: return %[[DR0]], %[[DR1]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>)
    -> (tensor<4xf32>, tensor<4x3xf32>) {
  %r:2, %dr0, %dr1 = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>)
      -> (tensor<4xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<4x3xf32>)
  return %dr0, %dr1 : tensor<4xf32>, tensor<4x3xf32>
}

// Results without a cotangent cost nothing.
func.func private @one(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %zi = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %r:2 = linalg.generic {
      indexing_maps = [#id, #row, #id],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i, %e : tensor<4xf32>, tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = math.sin %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1, %0 : f32, f32
  } -> (tensor<4xf32>, tensor<4x3xf32>)
  return %r#1 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @vjp_one(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[CT]] :
// CHECK: math.cos
// CHECK: return %[[DX]]
func.func @vjp_one(%x: tensor<4x3xf32>, %ct: tensor<4x3xf32>)
    -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @one(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// An initial value may be read for several results, as long as no element is
// written twice.
func.func private @cross(%p: tensor<4xf32>, %q: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [#one, #one],
      iterator_types = ["parallel"]
  }
    outs(%p, %q : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%o: f32, %s: f32):
    %0 = arith.addf %o, %s : f32
    linalg.yield %0, %s : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_cross(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT0:[^:]+]]: tensor<4xf32>, %[[CT1:[^:]+]]: tensor<4xf32>
// CHECK: %[[DQ:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[CT0]], %[[CT1]] :
// CHECK: arith.addf
// CHECK: return %[[DQ]]
func.func @vjp_cross(%p: tensor<4xf32>, %q: tensor<4xf32>,
                     %ct0: tensor<4xf32>, %ct1: tensor<4xf32>)
    -> tensor<4xf32> {
  %r:2, %dq = grad.vjp @cross(%p, %q) cotangents(%ct0, %ct1) wrt [1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dq : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp_cross(
// CHECK-SAME: %{{[^:]+}}: tensor<4xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[TQ:[^:]+]]: tensor<4xf32>
// CHECK: return %[[TQ]], %[[TQ]]
func.func @jvp_cross(%p: tensor<4xf32>, %q: tensor<4xf32>, %tq: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2, %dr0, %dr1 = grad.jvp @cross(%p, %q) tangents(%tq) wrt [1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dr0, %dr1 : tensor<4xf32>, tensor<4xf32>
}

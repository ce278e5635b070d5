// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The adjoint is elementwise too; it reads the result instead of computing the
// exponential again.
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: math.exp
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[R]], %[[CT]] :
// CHECK-NEXT: ^bb0(%[[E:[^:]+]]: f32, %[[C:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[C]], %[[E]]
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]], %[[TX]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[T:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[T]], %[[E]]
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4xf32>, %tx: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// Each operand gets a nest of its own, which reads only what it needs.
func.func private @product(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel"]
  } ins(%x, %y : tensor<4xf32>, tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_product(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: %[[DY:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: return %[[DX]], %[[DY]]
func.func @vjp_product(%x: tensor<4xf32>, %y: tensor<4xf32>, %ct: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %r, %dx, %dy = grad.vjp @product(%x, %y) cotangents(%ct) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %dx, %dy : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp_product(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf32>,
// CHECK-SAME: %[[TX:[^:]+]]: tensor<4xf32>, %[[TY:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]], %[[TX]], %[[TY]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[B:[^:]+]]: f32, %[[TA:[^:]+]]: f32, %[[TB:[^:]+]]: f32,
// CHECK-DAG: %[[L:.*]] = arith.mulf %[[TA]], %[[B]]
// CHECK-DAG: %[[K:.*]] = arith.mulf %[[TB]], %[[A]]
// CHECK: arith.addf %[[L]], %[[K]]
// CHECK: return %[[DR]]
func.func @jvp_product(%x: tensor<4xf32>, %y: tensor<4xf32>,
                       %tx: tensor<4xf32>, %ty: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dr = grad.jvp @product(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// Nothing is computed for an operand without a gradient.
func.func private @frozen(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel"]
  } ins(%x, %y : tensor<4xf32>, tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_frozen(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DY:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return %[[DY]]
func.func @vjp_frozen(%x: tensor<4xf32>, %y: tensor<4xf32>, %ct: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dy = grad.vjp @frozen(%x, %y) cotangents(%ct) wrt [1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dy : tensor<4xf32>
}

// A tensor that is read twice gets one nest an operand; the second adds to the
// first in place.
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel"]
  } ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.sin %a : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_twice(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[X]], %[[CT]] :
// CHECK: math.cos
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[CT]] : {{.*}} outs(%[[FIRST]] :
// CHECK: %[[S:.*]] = math.sin
// CHECK: %[[D:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK: arith.addf %{{.*}}, %[[D]]
// CHECK: return %[[DX]]
func.func @vjp_twice(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dx = grad.vjp @twice(%x) cotangents(%ct) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dx : tensor<4xf32>
}

// An initial value that the body reads is an operand.
func.func private @init(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {
      indexing_maps = [#id, #id],
      iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>)
    outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_init(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DY:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]], %[[CT]] :
// CHECK: arith.mulf
// CHECK: return %[[DY]]
func.func @vjp_init(%x: tensor<4xf32>, %y: tensor<4xf32>, %ct: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dy = grad.vjp @init(%x, %y) cotangents(%ct) wrt [1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dy : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp_init(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[TY:[^:]+]]: tensor<4xf32>
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[X]], %[[TY]] :
// CHECK: arith.mulf
// CHECK: return %[[DR]]
func.func @jvp_init(%x: tensor<4xf32>, %y: tensor<4xf32>, %ty: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dr = grad.jvp @init(%x, %y) tangents(%ty) wrt [1]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// The adjoint of a sum is a broadcast, its tangent a sum.
func.func private @f(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zi = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[CT]] :
// CHECK-NEXT: ^bb0(%[[C:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[C]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x3xf32>, %ct: tensor<4xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[TX]] : {{.*}} outs(%[[ZEROS]] :
// CHECK: arith.addf
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// The initial value is one more term: it gets the cotangent as it is.
func.func private @init(%x: tensor<4x3xf32>, %i: tensor<4xf32>)
    -> tensor<4xf32> {
  %r = linalg.generic {
      indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_init(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: return %[[CT]]
func.func @vjp_init(%x: tensor<4x3xf32>, %i: tensor<4xf32>, %ct: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %di = grad.vjp @init(%x, %i) cotangents(%ct) wrt [1]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %di : tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp_init(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %{{[^:]+}}: tensor<4xf32>,
// CHECK-SAME: %[[TI:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: return %[[TI]]
func.func @jvp_init(%x: tensor<4x3xf32>, %i: tensor<4xf32>, %ti: tensor<4xf32>)
    -> tensor<4xf32> {
  %r, %dr = grad.jvp @init(%x, %i) tangents(%ti) wrt [1]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// A term that is subtracted, or added in some places only, is a term too.
func.func private @masked(%x: tensor<4x3xf32>, %k: tensor<4x3xi1>)
    -> tensor<4xf32> {
  %zi = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x, %k : tensor<4x3xf32>, tensor<4x3xi1>)
    outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %c: i1, %o: f32):
    %0 = arith.subf %o, %a : f32
    %1 = arith.select %c, %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_masked(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %[[K:[^:]+]]: tensor<4x3xi1>,
// CHECK-SAME: %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[K]], %[[CT]] :
// CHECK-NEXT: ^bb0(%[[HERE:[^:]+]]: i1, %[[C:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[MASKED:.*]] = arith.select %[[HERE]], %[[C]], %{{.*}}
// CHECK-NEXT: %[[D:.*]] = arith.negf %[[MASKED]]
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %[[DX]]
func.func @vjp_masked(%x: tensor<4x3xf32>, %k: tensor<4x3xi1>,
                      %ct: tensor<4xf32>)
    -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @masked(%x, %k) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xi1>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// The adjoint of a broadcast is a sum: elements of bf16 are summed in f32 and
// rounded once.
func.func private @narrow(%x: tensor<3xbf16>) -> tensor<4x3xbf16> {
  %e = tensor.empty() : tensor<4x3xbf16>
  %r = linalg.generic {
      indexing_maps = [#col, #id],
      iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<3xbf16>)
    outs(%e : tensor<4x3xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<4x3xbf16>
  return %r : tensor<4x3xbf16>
}

// CHECK-LABEL: func.func @vjp_narrow(
// CHECK-SAME: %{{[^:]+}}: tensor<3xbf16>, %[[CT:[^:]+]]: tensor<4x3xbf16>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<3xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[CT]] : {{.*}} outs(%[[ZEROS]] :
// CHECK-NEXT: ^bb0(%[[C:[^:]+]]: bf16, %[[OUT:[^:]+]]: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[C]]
// CHECK-NEXT: arith.addf %[[OUT]], %[[WIDE]]
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[SUM]] :
// CHECK: arith.truncf
// CHECK: return %[[DX]] : tensor<3xbf16>
func.func @vjp_narrow(%x: tensor<3xbf16>, %ct: tensor<4x3xbf16>)
    -> tensor<3xbf16> {
  %r, %dx = grad.vjp @narrow(%x) cotangents(%ct) wrt [0]
      : (tensor<3xbf16>, tensor<4x3xbf16>) -> (tensor<4x3xbf16>, tensor<3xbf16>)
  return %dx : tensor<3xbf16>
}

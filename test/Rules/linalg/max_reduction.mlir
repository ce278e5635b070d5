// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Terms that equal the maximum share its gradient evenly: a first nest counts
// them.
func.func private @f(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zi = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK: arith.maximumf
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MAX]] :
// CHECK: %[[TIE:.*]] = arith.cmpf oeq
// CHECK: %[[ONE:.*]] = arith.uitofp %[[TIE]]
// CHECK: arith.addf %{{.*}}, %[[ONE]]
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[MAX]], %[[CT]], %[[COUNT]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %[[M:[^:]+]]: f32, %[[C:[^:]+]]: f32, %[[N:[^:]+]]: f32, %{{.*}}: f32):
// CHECK: %[[TIE:.*]] = arith.cmpf oeq, %[[A]], %[[M]]
// CHECK: %[[MASK:.*]] = arith.uitofp %[[TIE]]
// CHECK: %[[SHARE:.*]] = arith.mulf %[[C]], %[[MASK]]
// CHECK: arith.divf %[[SHARE]],
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x3xf32>, %ct: tensor<4xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK: arith.maximumf
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MAX]] :
// CHECK: %[[DR:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[TX]], %[[MAX]], %[[COUNT]] :
// CHECK: arith.cmpf oeq
// CHECK: arith.divf
// CHECK: arith.addf
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %tx: tensor<4x3xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// A comparison and a choice is a maximum or minimum as well.
func.func private @select(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zi = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zi : f32) outs(%ei : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>)
    outs(%i : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf ogt, %a, %o : f32
    %1 = arith.select %0, %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp_select(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK: arith.select
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MAX]] :
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[MAX]], %[[CT]], %[[COUNT]] :
// CHECK: return %[[DX]]
func.func @vjp_select(%x: tensor<4x3xf32>, %ct: tensor<4xf32>)
    -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @select(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// Ties of bf16 elements are counted in f32, which does not stop at 256.
func.func private @narrow(%x: tensor<4x3xbf16>) -> tensor<4xbf16> {
  %zi = arith.constant 0xFF80 : bf16
  %ei = tensor.empty() : tensor<4xbf16>
  %i = linalg.fill ins(%zi : bf16) outs(%ei : tensor<4xbf16>) -> tensor<4xbf16>
  %r = linalg.generic {
      indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xbf16>)
    outs(%i : tensor<4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.maximumf %a, %o : bf16
    linalg.yield %0 : bf16
  } -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @vjp_narrow(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xbf16>, %[[CT:[^:]+]]: tensor<4xbf16>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]] : {{.*}}) outs(%{{.*}} : tensor<4xf32>)
// CHECK: arith.uitofp {{.*}} : i1 to f32
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]], %[[CT]], %[[COUNT]] :
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: return %[[DX]]
func.func @vjp_narrow(%x: tensor<4x3xbf16>, %ct: tensor<4xbf16>)
    -> tensor<4x3xbf16> {
  %r, %dx = grad.vjp @narrow(%x) cotangents(%ct) wrt [0]
      : (tensor<4x3xbf16>, tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4x3xbf16>)
  return %dx : tensor<4x3xbf16>
}

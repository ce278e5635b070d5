// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The derivative is that of a tree of products of halves; nothing is divided.
func.func private @f(%x: tensor<4x3xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<4x3xf32>)
    outs(%i : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %[[I:[^:]+]]: tensor<4xf32>, %[[CT:[^:]+]]: tensor<4xf32>
// CHECK-NOT: arith.divf
// CHECK-DAG: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0]
// CHECK-DAG: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 1]
// CHECK-DAG: %[[X2:.*]] = tensor.extract_slice %[[X]][0, 2]
// CHECK: %[[X01:.*]] = arith.mulf %[[X0]], %[[X1]]
// CHECK: %[[P:.*]] = arith.mulf %[[X01]], %[[X2]]
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[P]]
// CHECK: %[[DI:.*]] = arith.mulf %[[CT]], %[[ROW]]
// CHECK: %[[CI:.*]] = arith.mulf %[[CT]], %[[I]]
// CHECK: %[[C:.*]] = tensor.expand_shape %[[CI]]
// CHECK: %[[C2:.*]] = arith.mulf %[[C]], %[[X2]]
// CHECK: %[[D2:.*]] = arith.mulf %[[C]], %[[X01]]
// CHECK: %[[D0:.*]] = arith.mulf %[[C2]], %[[X1]]
// CHECK: %[[D1:.*]] = arith.mulf %[[C2]], %[[X0]]
// CHECK: tensor.insert_slice %[[D0]]
// CHECK: linalg.generic {{.*}} ins(%[[D1]] :
// CHECK: linalg.generic {{.*}} ins(%[[D2]] :
// CHECK: %[[DX:.*]] = tensor.insert_slice
// CHECK: return %[[DX]], %[[DI]]
func.func @vjp(%x: tensor<4x3xf32>, %i: tensor<4xf32>, %ct: tensor<4xf32>) -> (tensor<4x3xf32>, tensor<4xf32>) {
  %r, %dx, %di = grad.vjp @f(%x, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x3xf32>, tensor<4xf32>)
  return %dx, %di : tensor<4x3xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32>, %{{[^:]+}}: tensor<4xf32>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK-NOT: arith.divf
// CHECK-COUNT-3: tensor.extract_slice %[[TX]]
// CHECK-COUNT-3: arith.addf
// CHECK: return
func.func @jvp(%x: tensor<4x3xf32>, %i: tensor<4xf32>, %tx: tensor<4x3xf32>, %ti: tensor<4xf32>) -> tensor<4xf32> {
  %r, %dr = grad.jvp @f(%x, %i) tangents(%tx, %ti) wrt [0, 1]
      : (tensor<4x3xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %dr : tensor<4xf32>
}

// Products of bf16 elements are computed in f32 and rounded once.
func.func private @narrow(%x: tensor<4x3xbf16>, %i: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<4x3xbf16>)
    outs(%i : tensor<4xbf16>) dimensions = [1]
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @vjp_narrow(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xbf16>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: arith.extf
// CHECK: tensor.extract_slice %[[WIDE]]
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3xbf16>)
// CHECK: arith.truncf
// CHECK: return %[[DX]]
func.func @vjp_narrow(%x: tensor<4x3xbf16>, %i: tensor<4xbf16>, %ct: tensor<4xbf16>)
    -> tensor<4x3xbf16> {
  %r, %dx = grad.vjp @narrow(%x, %i) cotangents(%ct) wrt [0]
      : (tensor<4x3xbf16>, tensor<4xbf16>, tensor<4xbf16>)
      -> (tensor<4xbf16>, tensor<4x3xbf16>)
  return %dx : tensor<4x3xbf16>
}

// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// Equal positions add up.
func.func private @f(%x: tensor<4x3xf32>, %i: tensor<5x1xindex>) -> tensor<5x3xf32> {
  %r = tensor.gather %x[%i] gather_dims([0])
      : (tensor<4x3xf32>, tensor<5x1xindex>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %[[I:[^:]+]]: tensor<5x1xindex>, %[[CT:[^:]+]]: tensor<5x3xf32>
// CHECK: %[[DX:.*]] = grad.scatter_add bounds [5, 3] ins(%[[CT]] :
// CHECK-NEXT: ^bb0(%[[C:[^:]+]]: f32):
// CHECK: %[[AT:.*]] = grad.loop_index 0
// CHECK: %[[COLUMN:.*]] = grad.loop_index 1
// CHECK: %[[ROW:.*]] = tensor.extract %[[I]][%[[AT]], %{{.*}}]
// CHECK: grad.yield %[[ROW]], %[[COLUMN]], %[[C]]
// CHECK: return %[[DX]]
func.func @vjp(%x: tensor<4x3xf32>, %i: tensor<5x1xindex>, %ct: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %r, %dx = grad.vjp @f(%x, %i) cotangents(%ct) wrt [0]
      : (tensor<4x3xf32>, tensor<5x1xindex>, tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<4x3xf32>)
  return %dx : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %{{[^:]+}}: tensor<4x3xf32>, %[[I:[^:]+]]: tensor<5x1xindex>, %[[TX:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[DR:.*]] = linalg.generic
// CHECK: %[[ROW:.*]] = tensor.extract %[[I]]
// CHECK: tensor.extract %[[TX]][%[[ROW]], %{{.*}}]
// CHECK: return %[[DR]]
func.func @jvp(%x: tensor<4x3xf32>, %i: tensor<5x1xindex>, %tx: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %r, %dr = grad.jvp @f(%x, %i) tangents(%tx) wrt [0]
      : (tensor<4x3xf32>, tensor<5x1xindex>, tensor<4x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
  return %dr : tensor<5x3xf32>
}

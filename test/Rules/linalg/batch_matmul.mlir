// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope \
// RUN:   | FileCheck %s

// The batch dimension stays parallel in both adjoints.
func.func private @f(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>,
                     %i: tensor<5x2x4xf32>)
    -> tensor<5x2x4xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<5x2x3xf32>, tensor<5x3x4xf32>)
    outs(%i : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[A:[^:]+]]: tensor<5x2x3xf32>, %[[B:[^:]+]]: tensor<5x3x4xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<5x2x4xf32>, %[[CT:[^:]+]]: tensor<5x2x4xf32>
// CHECK: %[[DA:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%[[B]], %[[CT]] :
// CHECK: %[[DB:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%[[A]], %[[CT]] :
// CHECK: return %[[DA]], %[[DB]]
func.func @vjp(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>,
               %i: tensor<5x2x4xf32>, %ct: tensor<5x2x4xf32>)
    -> (tensor<5x2x3xf32>, tensor<5x3x4xf32>) {
  %r, %da, %db = grad.vjp @f(%a, %b, %i) cotangents(%ct) wrt [0, 1]
      : (tensor<5x2x3xf32>, tensor<5x3x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>)
      -> (tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<5x3x4xf32>)
  return %da, %db : tensor<5x2x3xf32>, tensor<5x3x4xf32>
}

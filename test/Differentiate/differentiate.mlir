// RUN: gradc-opt %s --grad-differentiate | FileCheck %s

// Two layers of which the first is frozen. No op is created for the gradient of
// the first weight, of the activation or of the input: there is no pass behind
// the expansion here that would remove one.
func.func private @mlp(%x: tensor<2x3xf32>, %w0: tensor<3x4xf32>,
                       %w1: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x4xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x4xf32>)
      -> tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %w0 : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%i0 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = math.tanh %h : tensor<2x4xf32>
  %e1 = tensor.empty() : tensor<2x5xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x5xf32>)
      -> tensor<2x5xf32>
  %y = linalg.matmul ins(%a, %w1 : tensor<2x4xf32>, tensor<4x5xf32>)
    outs(%i1 : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// The transform becomes a call.
// CHECK-LABEL: func.func @last_layer(
// CHECK-NEXT: %[[R:.*]]:2 = call @mlp.vjp(
// CHECK-NEXT: return %[[R]]#1
func.func @last_layer(%x: tensor<2x3xf32>, %w0: tensor<3x4xf32>,
                      %w1: tensor<4x5xf32>, %ct: tensor<2x5xf32>)
    -> tensor<4x5xf32> {
  %y, %dw1 = grad.vjp @mlp(%x, %w0, %w1) cotangents(%ct) wrt [2]
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>, tensor<2x5xf32>)
      -> (tensor<2x5xf32>, tensor<4x5xf32>)
  return %dw1 : tensor<4x5xf32>
}

// Without anything to differentiate by, only the results are left.
// CHECK-LABEL: func.func @nothing(
// CHECK: call @mlp.vjp_0(
func.func @nothing(%x: tensor<2x3xf32>, %w0: tensor<3x4xf32>,
                   %w1: tensor<4x5xf32>, %ct: tensor<2x5xf32>)
    -> tensor<2x5xf32> {
  %y = grad.vjp @mlp(%x, %w0, %w1) cotangents(%ct) wrt []
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>, tensor<2x5xf32>)
      -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// Each result has a cotangent of its own: a value that is returned twice gets
// the sum, an argument that is returned its cotangent, one without a path
// zeros. What is not a float has none.
func.func private @returns(%x: f32, %unused: f32, %n: i32)
    -> (f32, f32, f32, i32) {
  %0 = math.sin %x : f32
  return %0, %0, %x, %n : f32, f32, f32, i32
}

func.func @returned_twice(%x: f32, %n: i32, %ct: f32) -> (f32, f32) {
  %r:6 = grad.vjp @returns(%x, %x, %n) cotangents(%ct, %ct, %ct) wrt [0, 1]
      : (f32, f32, i32, f32, f32, f32) -> (f32, f32, f32, i32, f32, f32)
  return %r#4, %r#5 : f32, f32
}

// Forward mode: one tangent a float result, zero where no path leads.
func.func @jvp(%x: f32, %n: i32, %t: f32) -> (f32, f32, f32) {
  %r:7 = grad.jvp @returns(%x, %x, %n) tangents(%t) wrt [0]
      : (f32, f32, i32, f32) -> (f32, f32, f32, i32, f32, f32, f32)
  return %r#4, %r#5, %r#6 : f32, f32, f32
}

// A transform obeys the mode inside its function and ignores the one around
// it, and may stand in a loop.
func.func private @stopped(%x: f32) -> f32 {
  %0 = grad.no_grad -> f32 {
    %1 = math.sin %x : f32
    grad.yield %1 : f32
  }
  %2 = arith.mulf %x, %0 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @modes(
// CHECK: scf.for
// CHECK: call @stopped.vjp(
func.func @modes(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    %0 = grad.no_grad -> f32 {
      %1, %2 = grad.vjp @stopped(%a) cotangents(%x) wrt [0]
          : (f32, f32) -> (f32, f32)
      grad.yield %2 : f32
    }
    scf.yield %0 : f32
  }
  return %r : f32
}

// The expansions stand behind everything else, in the order of the transforms.

// CHECK-LABEL: func.func private @mlp.vjp(
// CHECK-SAME: %{{[^:]+}}: tensor<2x3xf32>, %{{[^:]+}}: tensor<3x4xf32>,
// CHECK-SAME: %{{[^:]+}}: tensor<4x5xf32>, %[[CT:[^:]+]]: tensor<2x5xf32>
// CHECK: linalg.matmul
// CHECK: %[[A:.*]] = math.tanh
// CHECK: %[[Y:.*]] = linalg.matmul
// CHECK-NEXT: arith.constant 0.000000e+00
// CHECK-NEXT: tensor.empty() : tensor<4x5xf32>
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: %[[DW:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[CT]] :
// CHECK-NOT: linalg
// CHECK: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]], %[[DW]]

// CHECK-LABEL: func.func private @mlp.vjp_0(
// CHECK-NOT: linalg.generic
// CHECK: return %{{[0-9a-z]+}} : tensor<2x5xf32>

// CHECK-LABEL: func.func private @returns.vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %{{[^:]+}}: f32, %[[N:[^:]+]]: i32,
// CHECK-SAME: %[[CT0:[^:]+]]: f32, %[[CT1:[^:]+]]: f32, %[[CT2:[^:]+]]: f32
// CHECK: %[[SIN:.*]] = math.sin %[[X]]
// CHECK: %[[CT:.*]] = arith.addf %[[CT0]], %[[CT1]]
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[D:.*]] = arith.mulf %[[CT]], %[[COS]]
// CHECK: %[[DX:.*]] = arith.addf %[[CT2]], %[[D]]
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: return %[[SIN]], %[[SIN]], %[[X]], %[[N]], %[[DX]], %[[ZERO]]

// CHECK-LABEL: func.func private @returns.jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %{{[^:]+}}: f32, %[[N:[^:]+]]: i32,
// CHECK-SAME: %[[T:[^:]+]]: f32
// CHECK: %[[SIN:.*]] = math.sin %[[X]]
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[DR:.*]] = arith.mulf %[[T]], %[[COS]]
// CHECK: return %[[SIN]], %[[SIN]], %[[X]], %[[N]], %[[DR]], %[[DR]], %[[T]]

// CHECK-LABEL: func.func private @stopped.vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[SIN:.*]] = math.sin
// CHECK-NOT: math.cos
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[SIN]]
// CHECK: return %{{.*}}, %[[DX]]

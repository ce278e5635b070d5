// RUN: gradc-opt %s | gradc-opt | FileCheck %s
// RUN: gradc-opt %s --mlir-print-op-generic | gradc-opt | FileCheck %s
// RUN: gradc-opt %s --emit-bytecode | gradc-opt | FileCheck %s

// CHECK-LABEL: func @signature(
// CHECK-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad> {grad.name = "w", grad.requires_grad}
func.func @signature(%w: tensor<4xf32, #grad.requires_grad> {grad.name = "w", grad.requires_grad}) {
  return
}

// CHECK-LABEL: func @barriers(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32, #grad.requires_grad>, %[[K:.*]]: tensor<4xf32>, %[[N:.*]]: i64)
func.func @barriers(%x: tensor<4xf32, #grad.requires_grad>, %k: tensor<4xf32>, %n: i64) {
  // CHECK: grad.stop_gradient %[[X]] : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
  %0 = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
  // CHECK: grad.stop_gradient %[[N]] : i64 -> i64
  %1 = grad.stop_gradient %n : i64 -> i64
  // CHECK: grad.value_of %[[K]], %[[X]] : tensor<4xf32>, tensor<4xf32, #grad.requires_grad> -> tensor<4xf32, #grad.requires_grad>
  %2 = grad.value_of %k, %x : tensor<4xf32>, tensor<4xf32, #grad.requires_grad> -> tensor<4xf32, #grad.requires_grad>
  // CHECK: grad.leaf %[[K]] : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  %3 = grad.leaf %k : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  // CHECK: grad.promote %[[K]] : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  %4 = grad.promote %k : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
  return
}

// CHECK-LABEL: func @regions(
// CHECK-SAME: %[[X:.*]]: f32)
func.func @regions(%x: f32) -> f32 {
  // CHECK: grad.no_grad {
  grad.no_grad {
  }
  // CHECK: grad.no_grad -> f32 {
  %0 = grad.no_grad -> f32 {
    // CHECK: grad.enable_grad -> f32 {
    %1 = grad.enable_grad -> f32 {
      // CHECK: grad.yield %[[X]] : f32
      grad.yield %x : f32
    }
    grad.yield %1 : f32
  }
  // CHECK: grad.checkpoint -> f32 attributes {policy = "everything"} {
  %2 = grad.checkpoint -> f32 attributes {policy = "everything"} {
    grad.yield %0 : f32
  }
  return %2 : f32
}

func.func private @loss(tensor<4xf32>, tensor<4xf32>, i64) -> (tensor<f32>, i64)

// CHECK-LABEL: func @transforms(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: i64, %[[ONE:.*]]: tensor<f32>)
func.func @transforms(%x: tensor<4xf32>, %n: i64, %one: tensor<f32>) {
  // CHECK: grad.vjp @loss(%[[X]], %[[X]], %[[N]]) cotangents(%[[ONE]]) wrt [1, 0] :
  // CHECK-SAME: (tensor<4xf32>, tensor<4xf32>, i64, tensor<f32>) -> (tensor<f32>, i64, tensor<4xf32>, tensor<4xf32>)
  %0:4 = grad.vjp @loss(%x, %x, %n) cotangents(%one) wrt [1, 0]
    : (tensor<4xf32>, tensor<4xf32>, i64, tensor<f32>) -> (tensor<f32>, i64, tensor<4xf32>, tensor<4xf32>)
  // CHECK: grad.jvp @loss(%[[X]], %[[X]], %[[N]]) tangents(%[[X]]) wrt [1] :
  // CHECK-SAME: (tensor<4xf32>, tensor<4xf32>, i64, tensor<4xf32>) -> (tensor<f32>, i64, tensor<f32>)
  %1:3 = grad.jvp @loss(%x, %x, %n) tangents(%x) wrt [1]
    : (tensor<4xf32>, tensor<4xf32>, i64, tensor<4xf32>) -> (tensor<f32>, i64, tensor<f32>)
  return
}

func.func private @row(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>

// CHECK-LABEL: func @vmap(
// CHECK-SAME: %[[XS:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4xf32>)
func.func @vmap(%xs: tensor<8x4xf32>, %w: tensor<4xf32>) {
  // CHECK: grad.vmap @row(%[[XS]], %[[W]]) batched [0] size 8 :
  // CHECK-SAME: (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %0 = grad.vmap @row(%xs, %w) batched [0] size 8
    : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func @scatter_add(
// CHECK-SAME: %[[ROWS:.*]]: tensor<8xi64>, %[[CT:.*]]: tensor<8x4xf32>, %[[ZERO:.*]]: tensor<100x4xf32>)
func.func @scatter_add(%rows: tensor<8xi64>, %ct: tensor<8x4xf32>, %zero: tensor<100x4xf32>) -> tensor<100x4xf32> {
  // CHECK: grad.scatter_add bounds [8, 4] ins(%[[ROWS]], %[[CT]] : tensor<8xi64>, tensor<8x4xf32>) maps
  // CHECK-SAME: into %[[ZERO]] : tensor<100x4xf32> {
  %r = grad.scatter_add bounds [8, 4] ins(%rows, %ct : tensor<8xi64>, tensor<8x4xf32>)
      maps [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
      into %zero : tensor<100x4xf32> {
  ^bb0(%row: i64, %value: f32):
    %i = arith.index_cast %row : i64 to index
    // CHECK: %[[J:.*]] = grad.loop_index 1
    %j = grad.loop_index 1
    // CHECK: grad.yield %{{.*}}, %[[J]], %{{.*}} : index, index, f32
    grad.yield %i, %j, %value : index, index, f32
  }
  return %r : tensor<100x4xf32>
}

// Upstream ops give an i1 tensor the encoding of their operands while parsing.
// CHECK-LABEL: func @compare(
func.func @compare(%x: tensor<4xf32, #grad.requires_grad>) {
  // CHECK: arith.cmpf olt, %{{.*}} : tensor<4xf32, #grad.requires_grad>
  %0 = arith.cmpf olt, %x, %x : tensor<4xf32, #grad.requires_grad>
  return
}

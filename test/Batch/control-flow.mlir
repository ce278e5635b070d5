// RUN: gradc-opt %s --grad-gradient --mlir-print-local-scope | FileCheck %s

func.func private @branch(%x: tensor<4xf32>, %s: tensor<i1>) -> tensor<4xf32> {
  %c = tensor.extract %s[] : tensor<i1>
  %r = scf.if %c -> tensor<4xf32> {
    %y = math.exp %x : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    %y = arith.constant dense<1.0> : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// One decision for all rows is taken once.
// CHECK-LABEL: func.func @same(
// CHECK-NOT: scf.for
// CHECK: scf.if %{{.*}} -> (tensor<5x4xf32>)
func.func @same(%x: tensor<5x4xf32>, %c: tensor<i1>) -> tensor<5x4xf32> {
  %r = grad.vmap @branch(%x, %c) batched [0] size 5
      : (tensor<5x4xf32>, tensor<i1>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// A decision a row is taken row by row.
// CHECK-LABEL: func.func @each(
// CHECK-SAME: %[[X:[^:]+]]: tensor<5x4xf32>, %[[C:[^:]+]]: tensor<5xi1>
// CHECK: scf.for %[[ROW:.*]] = {{.*}} iter_args(%[[ROWS:.*]] = %{{.*}}) -> (tensor<5x4xf32>)
// CHECK-DAG: %[[XROW:.*]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 4] [1, 1]
// CHECK-DAG: %[[CROW:.*]] = tensor.extract %[[C]][%[[ROW]]]
// CHECK: %[[R:.*]] = scf.if %[[CROW]] -> (tensor<4xf32>)
// CHECK: math.exp %[[XROW]]
// CHECK: tensor.insert_slice %[[R]] into %[[ROWS]][%[[ROW]], 0] [1, 4] [1, 1]
func.func @each(%x: tensor<5x4xf32>, %c: tensor<5xi1>) -> tensor<5x4xf32> {
  %r = grad.vmap @branch(%x, %c) batched [0, 1] size 5
      : (tensor<5x4xf32>, tensor<5xi1>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

func.func private @loop(%x: tensor<4xf32>, %n: tensor<index>) -> (tensor<4xf32>, tensor<4xf32>) {
  %n0 = tensor.extract %n[] : tensor<index>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %r:3 = scf.for %i = %zero to %n0 step %one iter_args(%p = %c, %q = %c, %k = %c)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = arith.mulf %q, %k : tensor<4xf32>
    %b = arith.mulf %x, %k : tensor<4xf32>
    %d = math.sin %k : tensor<4xf32>
    scf.yield %a, %b, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#2 : tensor<4xf32>, tensor<4xf32>
}

// The first value that the loop carries is batched from the second iteration
// on, so always; the third never.
// CHECK-LABEL: func.func @carried(
// CHECK: scf.for {{.*}} -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>)
func.func @carried(%x: tensor<5x4xf32>, %n: tensor<index>)
    -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %r:2 = grad.vmap @loop(%x, %n) batched [0] size 5
      : (tensor<5x4xf32>, tensor<index>) -> (tensor<5x4xf32>, tensor<5x4xf32>)
  return %r#0, %r#1 : tensor<5x4xf32>, tensor<5x4xf32>
}

func.func private @check(%x: tensor<4xf32>, %s: tensor<i1>, %u: tensor<i1>) -> tensor<4xf32> {
  %c = tensor.extract %s[] : tensor<i1>
  %d = tensor.extract %u[] : tensor<i1>
  cf.assert %c, "each"
  cf.assert %d, "once"
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @assertions(
// CHECK: scf.for
// CHECK: cf.assert %{{.*}}, "each"
// CHECK: }
// CHECK-NEXT: cf.assert %{{.*}}, "once"
func.func @assertions(%x: tensor<5x4xf32>, %c: tensor<5xi1>, %d: tensor<i1>)
    -> tensor<5x4xf32> {
  %r = grad.vmap @check(%x, %c, %d) batched [0, 1] size 5
      : (tensor<5x4xf32>, tensor<5xi1>, tensor<i1>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// RUN: gradc-opt %s --grad-linalg-to-loops | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// Contiguous and pointwise: one loop over all elements.
// CHECK-LABEL: func @pointwise
// CHECK: %[[N:.*]] = arith.constant 35 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK-NOT: scf.for
func.func @pointwise(%x: memref<5x7xf32>, %y: memref<5x7xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<5x7xf32>) outs(%y : memref<5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  return
}

// The sum along rows is carried in a register and may be reassociated.
// CHECK-LABEL: func @rows
// CHECK: scf.for
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] =
// CHECK: arith.addf %[[ACC]], %{{.*}} fastmath<reassoc>
// CHECK: memref.store %[[R]]
func.func @rows(%x: memref<5x64xf32>, %y: memref<5xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<5x64xf32>) outs(%y : memref<5xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}

// The sum along columns keeps the contiguous loop innermost.
// CHECK-LABEL: func @columns
// CHECK: %[[ROWS:.*]] = arith.constant 50 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: %[[COLUMNS:.*]] = arith.constant 64 : index
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[COLUMNS]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[J]]]
func.func @columns(%x: memref<50x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<50x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}

// RUN: gradc-opt %s --grad-split-reductions | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// The sum of all elements: 64 blocks of 16 rows, then the sum of their sums.
// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[BLOCK:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func @sum
// CHECK-SAME: (%[[X:.*]]: memref<1024x512xf64>, %[[Y:.*]]: memref<f64>)
// CHECK: %[[B:.*]] = memref.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [64, 16, 512]
// CHECK: %[[P:.*]] = memref.alloc() : memref<64xf64>
// CHECK: linalg.fill ins(%{{.*}} : f64) outs(%[[P]] : memref<64xf64>)
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[BLOCK]]], iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-SAME: ins(%[[B]] : {{.*}}) outs(%[[P]]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[P]] : memref<64xf64>) outs(%[[Y]] : memref<f64>)
// CHECK: arith.addf
func.func @sum(%x: memref<1024x512xf64>, %y: memref<f64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<1024x512xf64>) outs(%y : memref<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// What does not fill a block is reduced on its own; positions count from
// where the block begins.
// CHECK-LABEL: func @rest
// CHECK-SAME: (%[[X:.*]]: memref<1000003xi64>, %[[Y:.*]]: memref<i64>)
// CHECK: %[[REST:.*]] = memref.subview %[[X]][984438] [15565] [1]
// CHECK: linalg.generic {{.*}} ins(%[[REST]] : {{.*}}) outs(%[[Y]] : memref<i64>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[MAIN:.*]] = memref.subview %[[X]][0] [984438] [1]
// CHECK: memref.expand_shape %[[MAIN]] {{\[\[}}0, 1]] output_shape [63, 15626]
// CHECK: linalg.generic
// CHECK-DAG: %[[INSIDE:.*]] = linalg.index 1
// CHECK-DAG: %[[BLOCK:.*]] = linalg.index 0
// CHECK: %[[BEGIN:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
// CHECK: arith.addi %[[BEGIN]], %[[INSIDE]] : index
// CHECK: linalg.generic
func.func @rest(%x: memref<1000003xi64>, %y: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<1000003xi64>) outs(%y : memref<i64>) {
  ^bb0(%a: i64, %acc: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %p = arith.muli %n, %a : i64
    %s = arith.addi %acc, %p : i64
    linalg.yield %s : i64
  }
  return
}

// Along the rows there is a loop to divide already.
// CHECK-LABEL: func @rows
// CHECK-NOT: memref.alloc
func.func @rows(%x: memref<1024x512xf64>, %y: memref<1024xf64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x512xf64>) outs(%y : memref<1024xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// Not worth it.
// CHECK-LABEL: func @small
// CHECK-NOT: memref.alloc
func.func @small(%x: memref<64x64xf64>, %y: memref<f64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<64x64xf64>) outs(%y : memref<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// Two results that depend on each other do not combine.
// CHECK-LABEL: func @argmax
// CHECK-NOT: memref.alloc
func.func @argmax(%x: memref<1048576xf64>, %y: memref<f64>, %z: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : memref<1048576xf64>) outs(%y, %z : memref<f64>, memref<i64>) {
  ^bb0(%a: f64, %max: f64, %at: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %more = arith.cmpf ogt, %a, %max : f64
    %m = arith.select %more, %a, %max : f64
    %k = arith.select %more, %n, %at : i64
    linalg.yield %m, %k : f64, i64
  }
  return
}

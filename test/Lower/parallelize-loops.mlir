// RUN: gradc-opt %s --grad-linalg-to-loops --grad-parallelize-loops | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @f
// CHECK-SAME: (%[[X:.*]]: memref<1024x512xf64>
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[SIZE:.*]] = arith.constant 524288 : index
// CHECK: call @gradc.kernel.0(%[[X]], %[[ZERO]], %[[SIZE]])
func.func @f(%x: memref<1024x512xf64>, %row: memref<1024xf64>, %column: memref<512xf64>, %s: memref<f64>,
             %few: memref<8x8xf64>) {
  call @gradc.kernel.0(%x) : (memref<1024x512xf64>) -> ()
  call @gradc.kernel.1(%x, %row) : (memref<1024x512xf64>, memref<1024xf64>) -> ()
  call @gradc.kernel.2(%x, %column) : (memref<1024x512xf64>, memref<512xf64>) -> ()
  call @gradc.kernel.3(%x, %s) : (memref<1024x512xf64>, memref<f64>) -> ()
  call @gradc.kernel.4(%few) : (memref<8x8xf64>) -> ()
  return
}

// Elementwise, in place: all elements in one loop, cut at multiples of 64.
// CHECK-LABEL: func private @gradc.kernel.0
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: gradc.parallel = array<i64: 524288, {{[0-9]+}}>
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK-NOT: gradc.grain
func.func private @gradc.kernel.0(%x: memref<1024x512xf64>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<1024x512xf64>) {
  ^bb0(%a: f64):
    %e = math.exp %a : f64
    linalg.yield %e : f64
  }
  return
}

// The sum along rows: whole rows.
// CHECK-LABEL: func private @gradc.kernel.1
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: gradc.parallel = array<i64: 1024, {{[0-9]+}}>
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: scf.for {{.*}} iter_args
func.func private @gradc.kernel.1(%x: memref<1024x512xf64>, %y: memref<1024xf64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x512xf64>) outs(%y : memref<1024xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// The sum along columns: a part of each row.
// CHECK-LABEL: func private @gradc.kernel.2
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: gradc.parallel = array<i64: 512, {{[0-9]+}}>
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
func.func private @gradc.kernel.2(%x: memref<1024x512xf64>, %y: memref<512xf64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<1024x512xf64>) outs(%y : memref<512xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// No loop that moves over the result.
// CHECK-LABEL: func private @gradc.kernel.3
// CHECK-NOT: gradc.parallel
func.func private @gradc.kernel.3(%x: memref<1024x512xf64>, %y: memref<f64>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<1024x512xf64>) outs(%y : memref<f64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.addf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// Not worth it.
// CHECK-LABEL: func private @gradc.kernel.4
// CHECK-NOT: gradc.parallel
func.func private @gradc.kernel.4(%x: memref<8x8xf64>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : memref<8x8xf64>) {
  ^bb0(%a: f64):
    %e = math.exp %a : f64
    linalg.yield %e : f64
  }
  return
}

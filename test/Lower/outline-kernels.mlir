// RUN: gradc-opt %s --grad-outline-kernels | FileCheck %s

#id = affine_map<(i) -> (i)>

// Equal ops share a kernel; the one that works in place has one argument.
// CHECK-LABEL: func @f
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: call @[[K:.*]](%[[X]], %[[T]])
// CHECK: call @[[K]](%[[T]], %[[Y]])
// CHECK: call @[[L:.*]](%[[Y]])
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.sin %a : f32
    linalg.yield %e : f32
  }
  return
}

// CHECK: func private @[[K]](%{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK: math.exp
// CHECK: func private @[[L]](%{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK: math.sin

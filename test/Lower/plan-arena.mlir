// RUN: gradc-opt %s --grad-plan-arena --canonicalize | FileCheck %s

func.func private @use(memref<16xf32>, memref<16xf32>)

// %b takes a place of its own next to %a; %c takes the place of %a, which is
// dead by then.
// CHECK-LABEL: func @f
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<16xf32> {{.*}}, %[[ARENA:[a-z0-9]*]]: memref<128xi8>
// CHECK-SAME: gradc.arena_bytes = 128
// CHECK-COUNT-3: memref.view %[[ARENA]]
// CHECK: call @use(%[[X]], %[[A:[a-z0-9_]*]])
// CHECK: call @use(%[[A]], %[[B:[a-z0-9_]*]])
// CHECK: call @use(%[[B]], %[[C:[a-z0-9_]*]])
// CHECK: call @use(%[[C]], %[[X]])
func.func @f(%x: memref<16xf32>) attributes {gradc.inputs = [], gradc.outputs = []} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  call @use(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%b, %c) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%c, %x) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

// A view keeps its buffer alive.
// CHECK-LABEL: func @views
// CHECK-SAME: gradc.arena_bytes = 128
func.func @views(%x: memref<16xf32>) attributes {gradc.inputs = [], gradc.outputs = []} {
  %a = memref.alloc() : memref<4x4xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  call @use(%x, %v) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%x, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  call @use(%v, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  return
}

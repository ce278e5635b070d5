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

func.func private @fill(memref<?xf32>)

// Memory of unknown size is given back when the region that takes it is done.
// CHECK-LABEL: func @dynamic
// CHECK: scf.for
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: call @fill(%[[A]])
// CHECK-NEXT: memref.dealloc %[[A]]
func.func @dynamic(%n: index) attributes {gradc.inputs = [], gradc.outputs = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc(%i) : memref<?xf32>
    func.call @fill(%a) : (memref<?xf32>) -> ()
  }
  return
}

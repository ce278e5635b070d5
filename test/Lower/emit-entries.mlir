// RUN: gradc-opt %s --grad-emit-entries | FileCheck %s

// CHECK: llvm.func internal @gradc.body.f
llvm.func @gradc.body.f(%x: !llvm.ptr, %y: !llvm.ptr) attributes {
    gradc.inputs = [tensor<4xf32>], gradc.outputs = [], gradc.arena_bytes = 64 : i64} {
  llvm.return
}
// CHECK: llvm.func @gradc.entry.f(%[[P:.*]]: !llvm.ptr) attributes {gradc.arena_bytes = 64 : i64
// CHECK: %[[X:.*]] = llvm.load
// CHECK: %[[Y:.*]] = llvm.load
// CHECK: llvm.call @gradc.body.f(%[[X]], %[[Y]])

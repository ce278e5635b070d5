// RUN: gradc-opt %s --grad-emit-parallel-calls | FileCheck %s

// CHECK: llvm.func @gradc_parallel_for(i64, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @f
// CHECK-SAME: (%[[X:.*]]: !llvm.ptr, %[[I:.*]]: i64)
// CHECK: %[[M:.*]] = llvm.alloca %{{.*}} x !llvm.array<2 x i64>
// CHECK: %[[P0:.*]] = llvm.getelementptr %[[M]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
// CHECK: llvm.store %[[X]], %[[P0]]
// CHECK: %[[P1:.*]] = llvm.getelementptr %[[M]][0, 1]
// CHECK: llvm.store %[[I]], %[[P1]]
// CHECK-DAG: %[[SIZE:.*]] = llvm.mlir.constant(1000 : i64)
// CHECK-DAG: %[[GRAIN:.*]] = llvm.mlir.constant(100 : i64)
// CHECK-DAG: %[[R:.*]] = llvm.mlir.addressof @gradc.kernel.0.range
// CHECK: llvm.call @gradc_parallel_for(%[[SIZE]], %[[GRAIN]], %[[R]], %[[M]])
// CHECK-NOT: llvm.call
llvm.func @f(%x: !llvm.ptr, %i: i64) {
  %begin = llvm.mlir.constant(0 : i64) : i64
  %end = llvm.mlir.constant(1000 : i64) : i64
  llvm.call @gradc.kernel.0(%x, %i, %begin, %end) : (!llvm.ptr, i64, i64, i64) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @gradc.kernel.0(
// CHECK-NOT: gradc.parallel
llvm.func @gradc.kernel.0(%x: !llvm.ptr, %i: i64, %begin: i64, %end: i64)
    attributes {gradc.parallel = array<i64: 1000, 100>} {
  llvm.return
}

// CHECK-LABEL: llvm.func @gradc.kernel.0.range
// CHECK-SAME: (%[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[M:.*]]: !llvm.ptr)
// CHECK: %[[P0:.*]] = llvm.getelementptr %[[M]][0, 0]
// CHECK: %[[X:.*]] = llvm.load %[[P0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[P1:.*]] = llvm.getelementptr %[[M]][0, 1]
// CHECK: %[[I:.*]] = llvm.load %[[P1]] : !llvm.ptr -> i64
// CHECK: llvm.call @gradc.kernel.0(%[[X]], %[[I]], %[[BEGIN]], %[[END]])

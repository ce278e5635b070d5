// RUN: gradc-opt %s --grad-lower-assert | FileCheck %s

// CHECK: llvm.mlir.global internal constant @[[TEXT:.*]]("out of range\0A{{.*}}lower-assert.mlir:14\00")
// CHECK: llvm.func @gradc_rt_fail(!llvm.ptr) attributes {passthrough = ["noreturn", "cold"]}
// CHECK-LABEL: func @f
// CHECK-SAME: (%[[C:.*]]: i1)
// CHECK: cf.cond_br %[[C]], ^[[REST:.*]], ^[[FAIL:.*]]
// CHECK: ^[[FAIL]]:
// CHECK: %[[A:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK: llvm.call @gradc_rt_fail(%[[A]])
// CHECK: llvm.unreachable
// CHECK: ^[[REST]]:
func.func @f(%c: i1) {
  cf.assert %c, "out of range"
  return
}

// RUN: gradc-opt %s --grad-bind-buffers | FileCheck %s

// Arguments are read, results written; one result twice is two buffers.
// CHECK-LABEL: func @gradc.body.f
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[E:.*]]: memref<0xf32>, %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK-SAME: gradc.inputs = [tensor<4xf32>, tensor<0x3xf32>]
// CHECK-SAME: gradc.outputs = [tensor<4xf32>, tensor<4xf32>]
// CHECK-DAG: %[[T:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK-DAG: %[[DA:.*]] = bufferization.to_tensor %[[A]] restrict writable
// CHECK-DAG: %[[DB:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK: %[[RA:.*]] = bufferization.materialize_in_destination %[[T]] in %[[DA]]
// CHECK: %[[RB:.*]] = bufferization.materialize_in_destination %[[T]] in %[[DB]]
// CHECK: bufferization.materialize_in_destination %[[RA]] in restrict writable %[[A]]
// CHECK: bufferization.materialize_in_destination %[[RB]] in restrict writable %[[B]]
func.func @f(%x: tensor<4xf32>, %e: tensor<0x3xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// RUN: gradc-opt %s --grad-cut-updates=max-length=2 | FileCheck %s

// A tensor goes through its buffer behind every second update.
// CHECK-LABEL: func @sum
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[A:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[B:.*]] = linalg.add {{.*}} outs(%[[A]]
// CHECK-NEXT: %[[M:.*]] = bufferization.to_buffer %[[B]]
// CHECK-NEXT: %[[R:.*]] = bufferization.to_tensor %[[M]] restrict writable
// CHECK: %[[C:.*]] = linalg.add {{.*}} outs(%[[R]]
// CHECK: %[[D:.*]] = tensor.insert_slice %{{.*}} into %[[C]]
// CHECK-NEXT: bufferization.to_buffer %[[D]]
func.func @sum(%x: tensor<4xf32>, %y: tensor<2xf32>, %zero: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  %d = tensor.insert_slice %y into %c[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %d : tensor<4xf32>
}

// What somebody else reads, and what a loop carries, stays what it is.
// CHECK-LABEL: func @shared
// CHECK-NOT: bufferization.to_buffer
func.func @shared(%x: tensor<4xf32>, %y: tensor<2xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.insert_slice %y into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %y into %a[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %c = tensor.insert_slice %y into %b[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<4xf32> {
    %p = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %q = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%q : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %c, %r : tensor<4xf32>, tensor<4xf32>
}

// RUN: gradc-opt %s --grad-contract-to-gemm | FileCheck %s

// A product onto a fresh zero overwrites: rows, columns and sum 4, 5, 3.
// CHECK-LABEL: func @matmul
// CHECK-NOT: linalg.fill
// CHECK: %[[M:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[N:.*]] = llvm.mlir.constant(5 : i64)
// CHECK: %[[K:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[OVERWRITE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.call @gradc_gemm_f32(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]], %[[N]], %[[K]], {{.*}}, %[[OVERWRITE]])
func.func @matmul(%a: memref<4x3xf32>, %b: memref<3x5xf32>, %c: memref<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x5xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x3xf32>, memref<3x5xf32>) outs(%c : memref<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  }
  return
}

// A batch dimension is a loop; two rows dimensions collapse into one of 8.
// CHECK-LABEL: func @batch
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.mlir.constant(8 : i64)
// CHECK: llvm.call @gradc_gemm_f64
func.func @batch(%a: memref<7x2x4x3xf64>, %b: memref<7x3x5xf64>, %c: memref<7x2x4x5xf64>) {
  linalg.generic {indexing_maps = [affine_map<(b, m, q, n, k) -> (b, m, q, k)>,
      affine_map<(b, m, q, n, k) -> (b, k, n)>, affine_map<(b, m, q, n, k) -> (b, m, q, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<7x2x4x3xf64>, memref<7x3x5xf64>) outs(%c : memref<7x2x4x5xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %p = arith.mulf %x, %y : f64
    %t = arith.addf %acc, %p : f64
    linalg.yield %t : f64
  }
  return
}

// The fill is somebody else's when the buffer is read in between.
// CHECK-LABEL: func @read_between
// CHECK: linalg.fill
// CHECK: llvm.mlir.constant(1 : i64)
// CHECK: llvm.call @gradc_gemm_f32
func.func @read_between(%a: memref<4x3xf32>, %b: memref<3x5xf32>, %c: memref<4x5xf32>, %d: memref<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x5xf32>)
  memref.copy %c, %d : memref<4x5xf32> to memref<4x5xf32>
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x3xf32>, memref<3x5xf32>) outs(%c : memref<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  }
  return
}

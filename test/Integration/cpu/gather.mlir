// RUN: gradc-run %s -e f --arg 'dense<[1.0, 2.0, 3.0]> : tensor<3xf32>' \
// RUN:   --arg 'dense<[2, 0, 2, 1]> : tensor<4xi64>' | FileCheck %s
// RUN: not gradc-run %s -e f --arg 'dense<[1.0, 2.0, 3.0]> : tensor<3xf32>' \
// RUN:   --arg 'dense<[2, 0, 3, 1]> : tensor<4xi64>' 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: dense<[3.000000e+00, 1.000000e+00, 3.000000e+00, 2.000000e+00]> : tensor<4xf32>
// ERROR: gradc-run: error: index 3 is out of range
func.func @f(%x: tensor<3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%i : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%row: i64, %o: f32):
    %size = arith.constant 3 : i64
    %ok = arith.cmpi ult, %row, %size : i64
    cf.assert %ok, "index 3 is out of range"
    %k = arith.index_cast %row : i64 to index
    %v = tensor.extract %x[%k] : tensor<3xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

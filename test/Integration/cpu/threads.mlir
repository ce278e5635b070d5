// The sum of 0, 1, ..., 999999 and how many of them are odd, on any number of threads.
// RUN: gradc-run %s -e f --num-threads=1 | FileCheck %s
// RUN: gradc-run %s -e f --num-threads=3 | FileCheck %s

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// CHECK: dense<4.999995E+11> : tensor<f64>
// CHECK: dense<500000> : tensor<i64>
func.func @f() -> (tensor<f64>, tensor<i64>) {
  %e = tensor.empty() : tensor<1000000xi64>
  %n = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<1000000xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i64
    linalg.yield %v : i64
  } -> tensor<1000000xi64>
  %zero = arith.constant dense<0.0> : tensor<f64>
  %none = arith.constant dense<0> : tensor<i64>
  %sum = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%n : tensor<1000000xi64>) outs(%zero : tensor<f64>) {
  ^bb0(%a: i64, %acc: f64):
    %x = arith.sitofp %a : i64 to f64
    %s = arith.addf %acc, %x : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  %odd = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%n : tensor<1000000xi64>) outs(%none : tensor<i64>) {
  ^bb0(%a: i64, %acc: i64):
    %one = arith.constant 1 : i64
    %bit = arith.andi %a, %one : i64
    %s = arith.addi %acc, %bit : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  return %sum, %odd : tensor<f64>, tensor<i64>
}

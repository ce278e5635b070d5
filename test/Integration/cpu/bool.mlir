// RUN: gradc-run %s -e f --arg 'dense<[true, false, true]> : tensor<3xi1>' \
// RUN:   --arg 'dense<[1.0, 2.0, 3.0]> : tensor<3xf64>' | FileCheck %s

// CHECK: dense<[1.000000e+00, -2.000000e+00, 3.000000e+00]> : tensor<3xf64>
// CHECK: dense<[false, true, false]> : tensor<3xi1>
func.func @f(%c: tensor<3xi1>, %x: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xi1>) {
  %true = arith.constant dense<true> : tensor<3xi1>
  %n = arith.negf %x : tensor<3xf64>
  %s = arith.select %c, %x, %n : tensor<3xi1>, tensor<3xf64>
  %i = arith.xori %c, %true : tensor<3xi1>
  return %s, %i : tensor<3xf64>, tensor<3xi1>
}

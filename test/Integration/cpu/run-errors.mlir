// RUN: not gradc-run %s -e g 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not gradc-run %s -e f 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not gradc-run %s -e f --arg 'dense<1.0> : tensor<2xf64>' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not gradc-run %s.missing 2>&1 | FileCheck %s --check-prefix=FILE

// NAME: gradc-run: error: no public function 'g'
// COUNT: gradc-run: error: 'f' takes 1 arguments, got 0
// TYPE: gradc-run: error: argument 0 has to be dense<...> : tensor<2xf32>, got dense<1.0> : tensor<2xf64>
// FILE: gradc-run: error: {{.*}}No such file
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

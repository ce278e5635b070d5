// RUN: gradc-opt %s --pass-pipeline='builtin.module(func.func(grad-fold-zeros))' \
// RUN:   | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#pair = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>

// Adding to zeros is writing.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32>
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[EMPTY]] :
// CHECK-NEXT: ^bb0(%[[A:[^:]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[EXP:.*]] = math.exp %[[A]]
// CHECK-NEXT: linalg.yield %[[EXP]]
func.func @elementwise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id], iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A reduction needs its zeros.
// CHECK-LABEL: func.func @reduction(
// CHECK: linalg.fill
// CHECK: arith.addf
func.func @reduction(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#pair, #sum], iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<4x3xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// So does a nest that adds to one element twice, whatever its iterators say.
// CHECK-LABEL: func.func @overlap(
// CHECK: linalg.fill
// CHECK: arith.addf
func.func @overlap(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#pair, #sum], iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<4x3xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A body that reads the old value a second time needs it.
// CHECK-LABEL: func.func @read_twice(
// CHECK: linalg.fill
// CHECK: arith.addf
func.func @read_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id], iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %o : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Other constants than zero stay.
// CHECK-LABEL: func.func @ones(
// CHECK: linalg.fill
// CHECK: arith.addf
func.func @ones(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>)
      -> tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [#id, #id], iterator_types = ["parallel"]
  } ins(%x : tensor<4xf32>) outs(%ones : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// RUN: gradc-opt %s --convert-elementwise-to-linalg --grad-fuse-elementwise --canonicalize | FileCheck %s

// A chain is one op, and both values that are used outside are its results.
// CHECK-LABEL: func @chain
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: math.exp
// CHECK: math.sin
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @chain(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %a = math.exp %x : tensor<4x5xf32>
  %b = math.sin %a : tensor<4x5xf32>
  %c = arith.addf %b, %y : tensor<4x5xf32>
  return %a, %c : tensor<4x5xf32>, tensor<4x5xf32>
}

// A reduction over the same domain joins; what reads its result does not.
// CHECK-LABEL: func @softmax_like
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-NOT: linalg.generic
func.func @softmax_like(%x: tensor<4x5xf32>, %init: tensor<4xf32>) -> tensor<4x5xf32> {
  %e = math.exp %x : tensor<4x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%e : tensor<4x5xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %empty = tensor.empty() : tensor<4x5xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<4x5xf32>, tensor<4xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x5xf32>
  return %d : tensor<4x5xf32>
}

// A contraction keeps to itself, on either side.
// CHECK-LABEL: func @contraction
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: math.sin
func.func @contraction(%x: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = math.exp %x : tensor<4x4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%e, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  %s = math.sin %m : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// A chain of updates is one update of where it starts from, and what others read
// on the way is a result of its own.
// CHECK-LABEL: func @updates
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[ACC:[^:]*]]: tensor<4xf32>
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[R:.*]]:2 = linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[ACC]], %[[E]]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[S:.*]] = math.sin %[[IN]]
// CHECK: %[[A:.*]] = arith.addf %[[OUT]], %[[S]]
// CHECK: %[[C:.*]] = math.cos %[[IN]]
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[C]]
// CHECK: %[[D:.*]] = arith.addf %[[B]], %[[IN]]
// CHECK: linalg.yield %[[B]], %[[D]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @updates(%x: tensor<4xf32>, %acc: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = math.sin %x : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%acc : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %c = math.cos %x : tensor<4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%c : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %out, %in : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}

// RUN: gradc-opt %s -grad-infer-requires-grad | FileCheck %s
// Inference is idempotent, and the check accepts what it writes.
// RUN: gradc-opt %s -grad-infer-requires-grad > %t.once
// RUN: gradc-opt %t.once -grad-infer-requires-grad | diff %t.once -
// RUN: gradc-opt %t.once -grad-check-requires-grad -o /dev/null

#id = affine_map<(d0) -> (d0)>

// The frozen weight %w1 stays plain; what depends on it and not on %x too.
// CHECK-LABEL: func @mlp(
// CHECK-SAME: %{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<4x8xf32>,
// CHECK-SAME: %{{.*}}: tensor<8x3xf32, #grad.requires_grad> {grad.requires_grad})
// CHECK-SAME: -> tensor<2x3xf32, #grad.requires_grad>
func.func @mlp(%x: tensor<2x4xf32>, %w1: tensor<4x8xf32>,
               %w2: tensor<8x3xf32> {grad.requires_grad}) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: linalg.fill {{.*}} -> tensor<2x8xf32>
  %e1 = tensor.empty() : tensor<2x8xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: linalg.matmul {{.*}} -> tensor<2x8xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%z1 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %e2 = tensor.empty() : tensor<2x3xf32>
  // CHECK: %[[Z:.*]] = linalg.fill {{.*}} -> tensor<2x3xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[P:.*]] = grad.promote %[[Z]]
  // CHECK: linalg.matmul {{.*}} outs(%[[P]] : tensor<2x3xf32, #grad.requires_grad>) -> tensor<2x3xf32, #grad.requires_grad>
  %y = linalg.matmul ins(%h, %w2 : tensor<2x8xf32>, tensor<8x3xf32>) outs(%z2 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A single-use empty needs no promotion, it is retyped.
// CHECK-LABEL: func @generic(
func.func @generic(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tensor.empty() : tensor<4xf32, #grad.requires_grad>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4xf32, #grad.requires_grad>, tensor<4xf32>)
  // CHECK: -> tensor<4xf32, #grad.requires_grad>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %k : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The body decides which result depends on which operand.
// CHECK-LABEL: func @two_results(
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>)
func.func @two_results(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e0 = tensor.empty() : tensor<4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %k : tensor<4xf32>, tensor<4xf32>) outs(%e0, %e1 : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32):
    %1 = math.exp %b : f32
    %2 = math.exp %a : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// A value read from a captured tensor counts.
// CHECK-LABEL: func @gather(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @gather(%x: tensor<9xf32> {grad.requires_grad}, %i: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: index, %o: f32):
    %1 = tensor.extract %x[%a] : tensor<9xf32>
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A fill overwrites: nothing of its destination is left.
// CHECK-LABEL: func @overwritten(
// CHECK-SAME: -> tensor<4xf32> {
func.func @overwritten(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[D:.*]] = grad.stop_gradient
  // CHECK: linalg.fill {{.*}} outs(%[[D]] : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @barriers(
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>, tensor<4xf32, #grad.requires_grad>, tensor<4xf32>)
func.func @barriers(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = grad.stop_gradient %x : tensor<4xf32> -> tensor<4xf32>
  %1 = grad.leaf %0 : tensor<4xf32> -> tensor<4xf32>
  // The gradient path decides, not the value.
  %2 = grad.value_of %k, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %3 = grad.value_of %x, %k : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Written types are not trusted: this demotion is gone after canonicalize.
// CHECK-LABEL: func @lying_types(
// CHECK-SAME: %{{.*}}: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32, #grad.requires_grad>
func.func @lying_types(%x: tensor<4xf32, #grad.requires_grad>) -> tensor<4xf32> {
  // CHECK-NEXT: return
  %0 = tensor.cast %x : tensor<4xf32, #grad.requires_grad> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @integers(
// CHECK-SAME: -> tensor<4xi32>
func.func @integers(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xi32> {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi32>)
  %0 = arith.fptosi %x : tensor<4xf32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Equal types stay as they are; what cannot be written goes to linalg.
// CHECK-LABEL: func @elementwise(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @elementwise(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: arith.mulf %{{.*}} : tensor<4xf32, #grad.requires_grad>
  // CHECK: linalg.generic
  // CHECK: arith.mulf %{{.*}} : f32
  // CHECK: linalg.generic
  // CHECK: arith.cmpf
  // CHECK: linalg.generic
  // CHECK: arith.select
  %0 = arith.mulf %x, %x : tensor<4xf32>
  %1 = arith.mulf %k, %x : tensor<4xf32>
  %2 = arith.cmpf olt, %0, %1 : tensor<4xf32>
  %3 = arith.select %2, %0, %k : tensor<4xi1>, tensor<4xf32>
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: func @shapes(
// CHECK-SAME: -> (tensor<2x2xf32, #grad.requires_grad>, tensor<6xf32, #grad.requires_grad>, tensor<4xf32, #grad.requires_grad>)
func.func @shapes(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<2xf32>, %d: tensor<4xf32>)
    -> (tensor<2x2xf32>, tensor<6xf32>, tensor<4xf32>) {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %1 = tensor.concat dim(0) %x, %k : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  %2 = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  // CHECK: %[[D:.*]] = grad.promote
  // CHECK: tensor.insert_slice %{{.*}} into %[[D]]
  %3 = tensor.insert_slice %2 into %d[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %0, %1, %3 : tensor<2x2xf32>, tensor<6xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @for(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @for(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // The second iteration sees what the first one yields.
  // CHECK: %[[INIT:.*]] = grad.promote
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[INIT]]) -> (tensor<4xf32, #grad.requires_grad>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %k) -> (tensor<4xf32>) {
    %0 = arith.addf %acc, %x : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @if(
// CHECK-SAME: -> (tensor<4xf32, #grad.requires_grad>, tensor<4xf32>)
func.func @if(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %x, %k : tensor<4xf32>, tensor<4xf32>
  } else {
    // CHECK: %[[P:.*]] = grad.promote
    // CHECK: scf.yield %[[P]], %{{.*}} : tensor<4xf32, #grad.requires_grad>, tensor<4xf32>
    scf.yield %k, %k : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @while(
// CHECK-SAME: -> tensor<f32, #grad.requires_grad>
func.func @while(%x: tensor<f32> {grad.requires_grad}, %k: tensor<f32>) -> tensor<f32> {
  // CHECK: scf.while {{.*}} : (tensor<f32, #grad.requires_grad>) -> tensor<f32, #grad.requires_grad>
  %r = scf.while (%a = %k) : (tensor<f32>) -> tensor<f32> {
    %0 = tensor.extract %a[] : tensor<f32>
    %one = arith.constant 1.0 : f32
    %c = arith.cmpf olt, %0, %one : f32
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%b: tensor<f32>):
    %1 = arith.addf %b, %x : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

// CHECK-LABEL: func @blocks(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @blocks(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK: %[[P:.*]] = grad.promote
  // CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}} : tensor<4xf32, #grad.requires_grad>), ^bb1(%[[P]] : tensor<4xf32, #grad.requires_grad>)
  cf.cond_br %c, ^bb1(%x : tensor<4xf32>), ^bb1(%k : tensor<4xf32>)
^bb1(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

// What the region computes is plain; what passes through is not.
// CHECK-LABEL: func @no_grad(
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32, #grad.requires_grad>, tensor<4xf32, #grad.requires_grad>)
func.func @no_grad(%x: tensor<4xf32> {grad.requires_grad}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r:3 = grad.no_grad -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {
    %0 = arith.mulf %x, %x : tensor<4xf32>
    %1 = grad.enable_grad -> tensor<4xf32> {
      %2 = arith.mulf %x, %0 : tensor<4xf32>
      grad.yield %2 : tensor<4xf32>
    }
    grad.yield %0, %x, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @scatter(
// CHECK-SAME: -> tensor<9xf32, #grad.requires_grad>
func.func @scatter(%x: tensor<4xf32> {grad.requires_grad}, %i: tensor<4xindex>, %z: tensor<9xf32>) -> tensor<9xf32> {
  // CHECK: %[[INIT:.*]] = grad.promote
  // CHECK: into %[[INIT]] : tensor<9xf32, #grad.requires_grad>
  %0 = grad.scatter_add bounds [4] ins(%i, %x : tensor<4xindex>, tensor<4xf32>) maps [#id, #id] into %z : tensor<9xf32> {
  ^bb0(%a: index, %b: f32):
    grad.yield %a, %b : index, f32
  }
  return %0 : tensor<9xf32>
}

// CHECK-LABEL: func @generate(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @generate(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {
  %0 = tensor.generate {
  ^bb0(%i: index):
    %1 = tensor.extract %x[%i] : tensor<4xf32>
    tensor.yield %1 : f32
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @pad(
// CHECK-SAME: -> tensor<6xf32, #grad.requires_grad>
func.func @pad(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func @forall(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @forall(%x: tensor<4xf32> {grad.requires_grad}, %d: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.forall (%i) in (2) shared_outs(%out = %d) -> (tensor<4xf32>) {
    %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %1 = tensor.extract_slice %x[%0] [2] [1] : tensor<4xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %out[%0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @parallel(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @parallel(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[INIT:.*]] = grad.promote
  // CHECK: scf.parallel {{.*}} init (%[[INIT]])
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%k) -> tensor<4xf32> {
    scf.reduce(%x : tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %0 = arith.addf %a, %b : tensor<4xf32>
      scf.reduce.return %0 : tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

// Of ops that are not known, every operand reaches every result.
// CHECK-LABEL: func @vector(
// CHECK-SAME: -> tensor<4xf32, #grad.requires_grad>
func.func @vector(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = vector.transfer_read %x[%c0], %zero : tensor<4xf32>, vector<4xf32>
  %1 = vector.transfer_write %0, %k[%c0] : vector<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @no_grad_loops(
// CHECK-SAME: -> (tensor<4xf32, #grad.requires_grad>, tensor<4xf32, #grad.requires_grad>)
func.func @no_grad_loops(%x: tensor<4xf32> {grad.requires_grad}, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = grad.no_grad -> tensor<4xf32>, tensor<4xf32> {
    // With no iterations, the loop hands its init through.
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
      %1 = arith.mulf %a, %x : tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    }
    %2 = scf.forall (%i) in (4) shared_outs(%out = %x) -> (tensor<4xf32>) {
      %3 = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %3 into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    grad.yield %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

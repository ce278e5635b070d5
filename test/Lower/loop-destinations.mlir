// RUN: gradc-opt %s --grad-loop-destinations | FileCheck %s

// What the loop yields goes where it came in.
// CHECK-LABEL: func @for
// CHECK: iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[X:.*]] = bufferization.materialize_in_destination %[[B]] in %[[A]]
// CHECK: %[[Y:.*]] = bufferization.materialize_in_destination %[[S]] in %[[B]]
// CHECK: scf.yield %[[X]], %[[Y]]
func.func @for(%x: tensor<4xf32>, %l: index, %u: index, %s: index) -> tensor<4xf32> {
  %r:2 = scf.for %i = %l to %u step %s iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = arith.addf %a, %b : tensor<4xf32>
    scf.yield %b, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// Both regions of a while carry the tensors of either, at the same places.
// CHECK-LABEL: func @while
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: scf.while (%[[A:.*]] = %{{.*}}, %[[B:.*]] = %[[E]], %[[N:.*]] = %{{.*}})
// CHECK: %[[T:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[B]]
// CHECK: scf.condition(%{{.*}}) %[[A]], %[[T]], %[[N]]
func.func @while(%x: tensor<4xf32>, %n: index, %limit: index) -> tensor<4xf32> {
  %one = arith.constant 1 : index
  %r:2 = scf.while (%i = %n, %a = %x) : (index, tensor<4xf32>) -> (tensor<4xf32>, index) {
    %c = arith.cmpi slt, %i, %limit : index
    %e = math.exp %a : tensor<4xf32>
    scf.condition(%c) %e, %i : tensor<4xf32>, index
  } do {
  ^bb0(%a: tensor<4xf32>, %i: index):
    %j = arith.addi %i, %one : index
    scf.yield %j, %a : index, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// An update of what came in is there already.
// CHECK-LABEL: func @update
// CHECK: %[[R:.*]] = tensor.insert
// CHECK-NEXT: scf.yield %[[R]]
func.func @update(%x: tensor<4xf32>, %v: f32, %l: index, %u: index, %s: index) -> tensor<4xf32> {
  %r = scf.for %i = %l to %u step %s iter_args(%a = %x) -> (tensor<4xf32>) {
    %t = tensor.insert %v into %a[%i] : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What comes from the place of an earlier value leaves it before that arrives.
// CHECK-LABEL: func @swap
// CHECK: iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = math.sin %[[B]]
// CHECK: %[[OUT:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: bufferization.materialize_in_destination %[[S]] in %[[A]]
// CHECK: bufferization.materialize_in_destination %[[OUT]] in %[[B]]
func.func @swap(%x: tensor<4xf32>, %l: index, %u: index, %s: index) -> tensor<4xf32> {
  %r:2 = scf.for %i = %l to %u step %s iter_args(%a = %x, %b = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = math.sin %b : tensor<4xf32>
    scf.yield %t, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// A loop in a loop starts from a copy of what is still read.
// CHECK-LABEL: func @inner
// CHECK: iter_args(%[[A:.*]] = %{{.*}})
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[COPY]])
func.func @inner(%x: tensor<4xf32>, %l: index, %u: index, %s: index) -> tensor<4xf32> {
  %r = scf.for %i = %l to %u step %s iter_args(%a = %x) -> (tensor<4xf32>) {
    %q = scf.for %j = %l to %u step %s iter_args(%b = %a) -> (tensor<4xf32>) {
      %t = math.sin %b : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    %t = arith.addf %q, %a : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// So does one whose number of iterations is not known: the outer loop keeps its
// own value, and reads it.
// CHECK-LABEL: func @inner_while
// CHECK: scf.while
// CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>):
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: scf.while (%{{.*}} = %[[COPY]], %{{.*}} = %{{.*}})
func.func @inner_while(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%p) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %q = scf.while (%b = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      scf.condition(%p) %b : tensor<4xf32>
    } do {
    ^bb0(%b: tensor<4xf32>):
      %t = math.sin %b : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %q : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

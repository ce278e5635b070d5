// RUN: gradc-opt %s --grad-differentiate --split-input-file --verify-diagnostics

// Rows of one tensor have one shape.
func.func private @shapes(%n: tensor<index>) -> tensor<f32> {
  %k = tensor.extract %n[] : tensor<index>
  // expected-error @below {{'tensor.empty' op cannot be batched: its rows may differ in shape}}
  %e = tensor.empty(%k) : tensor<?xf32>
  %c = arith.constant 0 : index
  %x = tensor.extract %e[%c] : tensor<?xf32>
  %r = tensor.from_elements %x : tensor<f32>
  return %r : tensor<f32>
}

func.func @f(%n: tensor<5xindex>) -> tensor<5xf32> {
  // expected-note @below {{for this grad.vmap}}
  %r = grad.vmap @shapes(%n) batched [0] size 5 : (tensor<5xindex>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// Rows would see what other rows store.
func.func private @stores(%x: tensor<f32>, %m: memref<f32>) -> tensor<f32> {
  %v = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'memref.store' op cannot be batched: it has side effects}}
  memref.store %v, %m[] : memref<f32>
  return %x : tensor<f32>
}

func.func @f(%x: tensor<5xf32>, %m: memref<f32>) -> tensor<5xf32> {
  // expected-note @below {{for this grad.vmap}}
  %r = grad.vmap @stores(%x, %m) batched [0] size 5
      : (tensor<5xf32>, memref<f32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func private @vectors(%x: tensor<f32>) -> tensor<f32> {
  %v = tensor.extract %x[] : tensor<f32>
  // expected-error @below {{'vector.broadcast' op cannot be batched: its result has type 'vector<4xf32>'}}
  %w = vector.broadcast %v : f32 to vector<4xf32>
  %y = vector.extract %w[0] : f32 from vector<4xf32>
  %r = tensor.from_elements %y : tensor<f32>
  return %r : tensor<f32>
}

func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-note @below {{for this grad.vmap}}
  %r = grad.vmap @vectors(%x) batched [0] size 5 : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// expected-note @below {{declared without a body here}}
func.func private @external(tensor<f32>) -> tensor<f32>

func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'grad.vmap' op needs the body of 'external' to batch it}}
  %r = grad.vmap @external(%x) batched [0] size 5 : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func private @row(%x: tensor<f32>) -> tensor<f32> {
  %c = arith.constant 0 : index
  %s = tensor.extract %x[] : tensor<f32>
  %xs = tensor.splat %s : tensor<5xf32>
  // expected-error @below {{'grad.vmap' op batches 'row', which contains it}}
  %ys = grad.vmap @row(%xs) batched [0] size 5 : (tensor<5xf32>) -> tensor<5xf32>
  %y = tensor.extract %ys[%c] : tensor<5xf32>
  %r = tensor.from_elements %y : tensor<f32>
  return %r : tensor<f32>
}

func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  %r = grad.vmap @row(%x) batched [0] size 5 : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

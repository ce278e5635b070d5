// RUN: gradc-opt %s --grad-joint --split-input-file --verify-diagnostics

// Branches between blocks have no structure to differentiate.
// expected-error @below {{'func.func' op cannot differentiate 'branches': it has unstructured control flow}}
// expected-note @below {{use scf.if, scf.for or scf.while}}
func.func @branches(%x: f32 {grad.requires_grad}, %c: i1) -> f32 {
  cf.cond_br %c, ^left, ^right
^left:
  %0 = math.sin %x : f32
  return %0 : f32
^right:
  return %x : f32
}

// -----

// The cotangent of a result of dynamic shape could not be zero.
// expected-error @below {{'func.func' op returns a value of type 'tensor<?xf32>', which has no derivative rule}}
func.func @dynamic(%x: f32 {grad.requires_grad}, %k: tensor<?xf32>)
    -> (f32, tensor<?xf32>) {
  return %x, %k : f32, tensor<?xf32>
}

// -----

// Recursion cannot be inlined.
// expected-note @below {{write the recursion as a loop}}
func.func @recursive(%x: f32 {grad.requires_grad}) -> f32 {
  // expected-error @below {{'func.call' op cannot be differentiated: 'recursive' calls itself}}
  %0 = call @recursive(%x) : (f32) -> f32
  return %0 : f32
}

// -----

// The functions made from one are found by name.
// expected-error @below {{'func.func' op needs the name 'f.joint' for a function made from it}}
func.func @f(%x: f32 {grad.requires_grad}) -> f32 {
  return %x : f32
}

// expected-note @below {{rename this one, which has it already}}
func.func @f.joint(%x: f32) -> f32 {
  return %x : f32
}

// RUN: gradc-opt %s --grad-tape --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op needs the name 'f.backward' for a function made from it}}
func.func @f(%x: f32 {grad.requires_grad}) -> f32 {
  return %x : f32
}

// expected-note @below {{rename this one, which has it already}}
func.func @f.backward(%x: f32) -> f32 {
  return %x : f32
}

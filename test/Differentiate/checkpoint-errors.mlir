// RUN: gradc-opt %s --grad-tape -verify-diagnostics

func.func @unknown(%x: f32 {grad.requires_grad}) -> f32 {
  // expected-error @below {{'grad.checkpoint' op has the unknown policy 'some'; there are 'nothing', 'dots' and 'everything'}}
  %r = grad.checkpoint -> f32 attributes {policy = "some"} {
    %0 = math.exp %x : f32
    grad.yield %0 : f32
  }
  return %r : f32
}

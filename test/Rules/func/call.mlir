// RUN: gradc-opt %s --grad-gradient | FileCheck %s

func.func private @f(%x: f32, %y: f32) -> f32 attributes {grad.custom_jvp = @f_jvp} {
  %0 = math.sin %x : f32
  %1 = arith.mulf %0, %y : f32
  return %1 : f32
}

// Not the derivative of @f, to tell them apart.
func.func private @f_jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> (f32, f32) {
  %r = call @f(%x, %y) : (f32, f32) -> f32
  %0 = arith.mulf %tx, %y : f32
  %1 = arith.mulf %ty, %x : f32
  %2 = arith.subf %0, %1 : f32
  return %r, %2 : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[T:[^:]+]]: f32
// CHECK-NOT: math
// CHECK: arith.mulf %[[T]], %[[Y]]
func.func @jvp(%x: f32, %y: f32, %t: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%t) wrt [0] : (f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// The same rule in reverse; what needs no gradient is not computed.
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-NOT: math
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[Y]]
// CHECK-NEXT: return %[[DX]]
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0] : (f32, f32, f32) -> (f32, f32)
  return %dx : f32
}

func.func private @g(%x: f32) -> f32 attributes {grad.custom_vjp = [@g_fwd, @g_bwd]} {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func private @g_fwd(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.cos %x : f32
  return %0, %0, %x, %1 : f32, f32, f32, f32
}
func.func private @g_bwd(%exp: f32, %x: f32, %cos: f32, %ct: f32) -> f32 {
  %0 = arith.mulf %ct, %exp : f32
  %1 = arith.divf %0, %cos : f32
  %2 = arith.subf %1, %x : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @pullback(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[A:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK: %[[B:.*]] = arith.divf %[[A]], %[[COS]]
// CHECK: %[[DX:.*]] = arith.subf %[[B]], %[[X]]
// CHECK: return %[[DX]]
func.func @pullback(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @g(%x) cotangents(%ct) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// A call under no_grad is stopped whatever the rule says.
func.func private @stopped(%x: f32) -> f32 {
  %0 = grad.no_grad -> f32 {
    %1 = func.call @g(%x) : (f32) -> f32
    grad.yield %1 : f32
  }
  %2 = arith.mulf %0, %x : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @no_grad(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK-NOT: arith.divf
// CHECK: return
func.func @no_grad(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @stopped(%x) cotangents(%ct) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

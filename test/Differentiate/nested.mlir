// RUN: gradc-opt %s --grad-gradient | FileCheck %s

func.func private @f(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  return %0 : f32
}

func.func private @vjp(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x) cotangents(%ct) wrt [0] : (f32, f32) -> (f32, f32)
  return %dx : f32
}

func.func private @jvp(%x: f32, %t: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x) tangents(%t) wrt [0] : (f32, f32) -> (f32, f32)
  return %dr : f32
}

// Reverse over reverse: the inner product ct cos(x) has the derivatives
// -ct sin(x) and cos(x).
// CHECK-LABEL: func.func @vjp_of_vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32, %[[U:[^:]+]]: f32
// CHECK: %[[COS:.*]] = math.cos %[[X]]
// CHECK: %[[DCT:.*]] = arith.mulf %[[U]], %[[COS]]
// CHECK: %[[UCT:.*]] = arith.mulf %[[U]], %[[CT]]
// CHECK: %[[SIN:.*]] = math.sin %[[X]]
// CHECK: %[[D:.*]] = arith.mulf %[[UCT]], %[[SIN]]
// CHECK: %[[DX:.*]] = arith.negf %[[D]]
// CHECK: return %[[DX]], %[[DCT]]
func.func @vjp_of_vjp(%x: f32, %ct: f32, %u: f32) -> (f32, f32) {
  %r, %dx, %dct = grad.vjp @vjp(%x, %ct) cotangents(%u) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dct : f32, f32
}

// Forward over reverse.
// CHECK-LABEL: func.func @jvp_of_vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[CT:[^:]+]]: f32, %[[T:[^:]+]]: f32
// CHECK: %[[SIN:.*]] = math.sin %[[X]]
// CHECK: %[[TSIN:.*]] = arith.mulf %[[T]], %[[SIN]]
// CHECK: %[[TCOS:.*]] = arith.negf %[[TSIN]]
// CHECK: %[[DR:.*]] = arith.mulf %[[TCOS]], %[[CT]]
// CHECK: return %[[DR]]
func.func @jvp_of_vjp(%x: f32, %ct: f32, %t: f32) -> f32 {
  %r, %dr = grad.jvp @vjp(%x, %ct) tangents(%t) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// Reverse over forward.
// CHECK-LABEL: func.func @vjp_of_jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[T:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[TCT:.*]] = arith.mulf %[[CT]], %[[T]]
// CHECK: %[[SIN:.*]] = math.sin %[[X]]
// CHECK: %[[D:.*]] = arith.mulf %[[TCT]], %[[SIN]]
// CHECK: %[[DX:.*]] = arith.negf %[[D]]
// CHECK: return %[[DX]]
func.func @vjp_of_jvp(%x: f32, %t: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @jvp(%x, %t) cotangents(%ct) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %dx : f32
}

// A barrier stops every level of differentiation, not the innermost alone.
func.func private @stopped(%x: f32) -> f32 {
  %0 = grad.stop_gradient %x : f32 -> f32
  %1 = arith.mulf %x, %0 : f32
  return %1 : f32
}

func.func private @vjp_stopped(%x: f32, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @stopped(%x) cotangents(%ct) wrt [0]
      : (f32, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @second_order_stopped(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: return %[[ZERO]]
func.func @second_order_stopped(%x: f32, %ct: f32, %u: f32) -> f32 {
  %r, %dx = grad.vjp @vjp_stopped(%x, %ct) cotangents(%u) wrt [0]
      : (f32, f32, f32) -> (f32, f32)
  return %dx : f32
}

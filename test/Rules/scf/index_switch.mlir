// RUN: gradc-opt %s --grad-gradient | FileCheck %s

func.func private @f(%x: f32, %k: index) -> f32 {
  %r = scf.index_switch %k -> f32
  case 3 {
    %0 = math.exp %x : f32
    scf.yield %0 : f32
  }
  default {
    scf.yield %x : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[K:[^:]+]]: index, %[[CT:[^:]+]]: f32
// CHECK: %[[D:.*]] = scf.index_switch %[[K]] -> f32
// CHECK: case 3
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[DX:.*]] = arith.mulf %[[CT]], %[[EXP]]
// CHECK: scf.yield %[[DX]]
// CHECK: default
// CHECK: scf.yield %[[CT]]
// CHECK: return %[[D]]
func.func @vjp(%x: f32, %k: index, %ct: f32) -> f32 {
  %r, %dx = grad.vjp @f(%x, %k) cotangents(%ct) wrt [0]
      : (f32, index, f32) -> (f32, f32)
  return %dx : f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK: scf.index_switch %{{.*}} -> f32, f32
func.func @jvp(%x: f32, %k: index, %t: f32) -> (f32, f32) {
  %r, %dr = grad.jvp @f(%x, %k) tangents(%t) wrt [0]
      : (f32, index, f32) -> (f32, f32)
  return %r, %dr : f32, f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The larger operand gets the gradient, the first one at a tie; NaN loses.
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = arith.maxnumf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V1:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.cmpf oge, %[[X]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.ori %[[V2]], %[[V1]] : i1
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[CT]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.select %[[V3]], %[[C0]], %[[CT]]
// CHECK: return %[[V4]], %[[V5]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V1:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.cmpf oge, %[[X]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.ori %[[V2]], %[[V1]] : i1
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[TX]], %[[C0]]
// CHECK: %[[V5:.*]] = arith.select %[[V3]], %[[C0]], %[[TY]]
// CHECK: %[[V6:.*]] = arith.addf %[[V4]], %[[V5]]
// CHECK: return %[[V6]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

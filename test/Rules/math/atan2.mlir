// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d atan2(y, x) = (x dy - y dx) / (y^2 + x^2), zero at the origin
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = math.atan2 %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V2:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V4:.*]] = arith.addf %[[V3]], %[[V2]]
// CHECK: %[[V5:.*]] = arith.divf %[[C0]], %[[V4]]
// CHECK: %[[V6:.*]] = arith.cmpf oeq, %[[V4]], %[[C1]]
// CHECK: %[[V7:.*]] = arith.select %[[V6]], %[[C1]], %[[V5]]
// CHECK: %[[V8:.*]] = arith.mulf %[[CT]], %[[Y]]
// CHECK: %[[V9:.*]] = arith.mulf %[[V8]], %[[V7]]
// CHECK: %[[V10:.*]] = arith.negf %[[X]]
// CHECK: %[[V11:.*]] = arith.mulf %[[CT]], %[[V10]]
// CHECK: %[[V12:.*]] = arith.mulf %[[V11]], %[[V7]]
// CHECK: return %[[V9]], %[[V12]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V2:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: %[[V4:.*]] = arith.addf %[[V3]], %[[V2]]
// CHECK: %[[V5:.*]] = arith.divf %[[C0]], %[[V4]]
// CHECK: %[[V6:.*]] = arith.cmpf oeq, %[[V4]], %[[C1]]
// CHECK: %[[V7:.*]] = arith.select %[[V6]], %[[C1]], %[[V5]]
// CHECK: %[[V8:.*]] = arith.mulf %[[TX]], %[[Y]]
// CHECK: %[[V9:.*]] = arith.mulf %[[V8]], %[[V7]]
// CHECK: %[[V10:.*]] = arith.negf %[[X]]
// CHECK: %[[V11:.*]] = arith.mulf %[[TY]], %[[V10]]
// CHECK: %[[V12:.*]] = arith.mulf %[[V11]], %[[V7]]
// CHECK: %[[V13:.*]] = arith.addf %[[V9]], %[[V12]]
// CHECK: return %[[V13]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

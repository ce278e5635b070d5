// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// The smaller operand gets the gradient, each half of it at a tie.
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = arith.minimumf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 5.000000e-01
// CHECK: %[[V2:.*]] = arith.cmpf olt, %[[Y]], %[[X]]
// CHECK: %[[V3:.*]] = arith.mulf %[[CT]], %[[C1]]
// CHECK: %[[V4:.*]] = arith.cmpf oeq, %[[X]], %[[Y]]
// CHECK: %[[V5:.*]] = arith.select %[[V4]], %[[V3]], %[[CT]]
// CHECK: %[[V6:.*]] = arith.select %[[V2]], %[[C0]], %[[V5]]
// CHECK: %[[V7:.*]] = arith.cmpf olt, %[[X]], %[[Y]]
// CHECK: %[[V8:.*]] = arith.select %[[V7]], %[[C0]], %[[V5]]
// CHECK: return %[[V6]], %[[V8]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 5.000000e-01
// CHECK: %[[V2:.*]] = arith.cmpf olt, %[[Y]], %[[X]]
// CHECK: %[[V3:.*]] = arith.mulf %[[TX]], %[[C1]]
// CHECK: %[[V4:.*]] = arith.cmpf oeq, %[[X]], %[[Y]]
// CHECK: %[[V5:.*]] = arith.select %[[V4]], %[[V3]], %[[TX]]
// CHECK: %[[V6:.*]] = arith.select %[[V2]], %[[C0]], %[[V5]]
// CHECK: %[[V7:.*]] = arith.cmpf olt, %[[X]], %[[Y]]
// CHECK: %[[V8:.*]] = arith.mulf %[[TY]], %[[C1]]
// CHECK: %[[V9:.*]] = arith.select %[[V4]], %[[V8]], %[[TY]]
// CHECK: %[[V10:.*]] = arith.select %[[V7]], %[[C0]], %[[V9]]
// CHECK: %[[V11:.*]] = arith.addf %[[V6]], %[[V10]]
// CHECK: return %[[V11]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d copysign(x, y) = copysign(x, y) / x dx, zero at zero
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = math.copysign %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V1:.*]] = math.copysign %[[X]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.divf %[[V1]], %[[X]]
// CHECK: %[[V3:.*]] = arith.cmpf oeq, %[[X]], %[[C0]]
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[C0]], %[[V2]]
// CHECK: %[[V5:.*]] = arith.mulf %[[CT]], %[[V4]]
// CHECK: return %[[V5]], %[[C0]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %{{[^:]+}}: f32
// CHECK: %[[C0:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V1:.*]] = math.copysign %[[X]], %[[Y]]
// CHECK: %[[V2:.*]] = arith.divf %[[V1]], %[[X]]
// CHECK: %[[V3:.*]] = arith.cmpf oeq, %[[X]], %[[C0]]
// CHECK: %[[V4:.*]] = arith.select %[[V3]], %[[C0]], %[[V2]]
// CHECK: %[[V5:.*]] = arith.mulf %[[TX]], %[[V4]]
// CHECK: return %[[V5]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

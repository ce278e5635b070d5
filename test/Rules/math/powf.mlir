// RUN: gradc-opt %s --grad-gradient | FileCheck %s

// d x^y = y x^(y-1) dx, zero for y = 0, + x^y ln x dy, zero for x = 0 <= y
func.func private @f(%x: f32, %y: f32) -> f32 {
  %r = math.powf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[CT:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V2:.*]] = math.powf %[[X]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.subf %[[Y]], %[[C0]]
// CHECK: %[[V4:.*]] = math.powf %[[X]], %[[V3]]
// CHECK: %[[V5:.*]] = arith.mulf %[[Y]], %[[V4]]
// CHECK: %[[V6:.*]] = arith.mulf %[[CT]], %[[V5]]
// CHECK: %[[V7:.*]] = arith.cmpf oeq, %[[Y]], %[[C1]]
// CHECK: %[[V8:.*]] = arith.select %[[V7]], %[[C1]], %[[V6]]
// CHECK: %[[V9:.*]] = arith.cmpf oge, %[[Y]], %[[C1]]
// CHECK: %[[V10:.*]] = arith.cmpf oeq, %[[X]], %[[C1]]
// CHECK: %[[V11:.*]] = arith.andi %[[V10]], %[[V9]] : i1
// CHECK: %[[V12:.*]] = math.log %[[X]]
// CHECK: %[[V13:.*]] = arith.mulf %[[V2]], %[[V12]]
// CHECK: %[[V14:.*]] = arith.select %[[V11]], %[[C1]], %[[V13]]
// CHECK: %[[V15:.*]] = arith.mulf %[[CT]], %[[V14]]
// CHECK: return %[[V8]], %[[V15]] : f32, f32
func.func @vjp(%x: f32, %y: f32, %ct: f32) -> (f32, f32) {
  %r, %dx, %dy = grad.vjp @f(%x, %y) cotangents(%ct) wrt [0, 1]
      : (f32, f32, f32) -> (f32, f32, f32)
  return %dx, %dy : f32, f32
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:[^:]+]]: f32, %[[Y:[^:]+]]: f32, %[[TX:[^:]+]]: f32, %[[TY:[^:]+]]: f32
// CHECK: %[[C0:.*]] = arith.constant 1.000000e+00
// CHECK: %[[C1:.*]] = arith.constant 0.000000e+00
// CHECK: %[[V2:.*]] = math.powf %[[X]], %[[Y]]
// CHECK: %[[V3:.*]] = arith.subf %[[Y]], %[[C0]]
// CHECK: %[[V4:.*]] = math.powf %[[X]], %[[V3]]
// CHECK: %[[V5:.*]] = arith.mulf %[[Y]], %[[V4]]
// CHECK: %[[V6:.*]] = arith.mulf %[[TX]], %[[V5]]
// CHECK: %[[V7:.*]] = arith.cmpf oeq, %[[Y]], %[[C1]]
// CHECK: %[[V8:.*]] = arith.select %[[V7]], %[[C1]], %[[V6]]
// CHECK: %[[V9:.*]] = arith.cmpf oge, %[[Y]], %[[C1]]
// CHECK: %[[V10:.*]] = arith.cmpf oeq, %[[X]], %[[C1]]
// CHECK: %[[V11:.*]] = arith.andi %[[V10]], %[[V9]] : i1
// CHECK: %[[V12:.*]] = math.log %[[X]]
// CHECK: %[[V13:.*]] = arith.mulf %[[V2]], %[[V12]]
// CHECK: %[[V14:.*]] = arith.select %[[V11]], %[[C1]], %[[V13]]
// CHECK: %[[V15:.*]] = arith.mulf %[[TY]], %[[V14]]
// CHECK: %[[V16:.*]] = arith.addf %[[V8]], %[[V15]]
// CHECK: return %[[V16]]
func.func @jvp(%x: f32, %y: f32, %tx: f32, %ty: f32) -> f32 {
  %r, %dr = grad.jvp @f(%x, %y) tangents(%tx, %ty) wrt [0, 1]
      : (f32, f32, f32, f32) -> (f32, f32)
  return %dr : f32
}

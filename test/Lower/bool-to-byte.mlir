// RUN: gradc-opt %s --grad-bool-to-byte | FileCheck %s

// CHECK: memref.global "private" constant @mask : memref<3xi8> = dense<[1, 0, 1]>
memref.global "private" constant @mask : memref<3xi1> = dense<[true, false, true]>

// CHECK-LABEL: func @f
// CHECK-SAME: (%[[X:.*]]: memref<3xi8>, %[[I:.*]]: index)
// CHECK: %[[M:.*]] = memref.get_global @mask : memref<3xi8>
// CHECK: %[[V:.*]] = memref.load %[[M]][%[[I]]]
// CHECK: %[[B:.*]] = arith.cmpi ne, %[[V]], %{{.*}} : i8
// CHECK: %[[W:.*]] = arith.extui %[[B]] : i1 to i8
// CHECK: memref.store %[[W]], %[[X]][%[[I]]] : memref<3xi8>
func.func @f(%x: memref<3xi1>, %i: index) {
  %m = memref.get_global @mask : memref<3xi1>
  %v = memref.load %m[%i] : memref<3xi1>
  memref.store %v, %x[%i] : memref<3xi1>
  return
}

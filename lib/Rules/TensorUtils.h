//===- TensorUtils.h - Tensors that derivative rules build ------*- C++ -*-===//

#ifndef GRADC_RULES_TENSORUTILS_H
#define GRADC_RULES_TENSORUTILS_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::grad {

/// An uninitialised tensor to write a result of `type` into.
Value emptyLike(OpBuilder &builder, Location loc, RankedTensorType type);

/// An uninitialised tensor of the shape of `value`, of elements of type
/// `element`.
Value emptyLike(OpBuilder &builder, Location loc, Value value, Type element);

/// True for the types that `zeros` can build: scalars, vectors and tensors of
/// static shape without an encoding.
bool hasZeros(Type type);

/// Zero of a type for which `hasZeros` holds.
Value zeros(OpBuilder &builder, Location loc, Type type);

/// True for the types of which `zerosLike` can build zeros: those, and tensors
/// of dynamic shape without an encoding.
bool hasZerosLike(Type type);

/// Zeros of the type and shape of `value`.
Value zerosLike(OpBuilder &builder, Location loc, Value value);

/// The same, for a tensor, with elements of type `element`.
Value zerosLike(OpBuilder &builder, Location loc, Value value, Type element);

/// A tensor of `sizes` with zeros of type `element`.
Value zeros(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes,
            Type element);

/// The constant `value` of a type for which `hasZeros` holds.
Value filled(OpBuilder &builder, Location loc, Type type, double value);

/// `x + y`. A tensor sum has `x` as its destination: bufferization adds in
/// place when nothing else reads `x` afterwards, and copies when something
/// does.
Value addInto(OpBuilder &builder, Location loc, Value x, Value y);

/// The element type sums are accumulated in: bf16 and f16 would round at each
/// step.
Type getAccumulatorType(Type element);

/// The sum of the elements of a tensor, as a scalar.
Value sumElements(OpBuilder &builder, Location loc, Value tensor);

/// `value` with its float elements converted to those of `type`.
Value convertElements(OpBuilder &builder, Location loc, Value value, Type type);

/// `x + y`, of sizes or offsets.
OpFoldResult addIndices(OpBuilder &builder, Location loc, OpFoldResult x,
                        OpFoldResult y);

/// The reassociation that puts the constant positions of `map` back as
/// dimensions of size one, each beside the kept dimension before it.
SmallVector<ReassociationIndices> getUnitDimGroups(AffineMap map);

} // namespace mlir::grad

#endif // GRADC_RULES_TENSORUTILS_H

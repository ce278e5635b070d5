//===- TensorUtils.cpp - Tensors that derivative rules build --------------===//

#include "Rules/TensorUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

Value mlir::grad::emptyLike(OpBuilder &builder, Location loc,
                            RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

Value mlir::grad::emptyLike(OpBuilder &builder, Location loc, Value value,
                            Type element) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, value), element);
}

static Value scalarConstant(OpBuilder &builder, Location loc, Type type,
                            double value) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    ArrayAttr parts = builder.getArrayAttr(
        {builder.getFloatAttr(part, value), builder.getFloatAttr(part, 0)});
    return complex::ConstantOp::create(builder, loc, complex, parts);
  }
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value mlir::grad::filled(OpBuilder &builder, Location loc, Type type,
                         double value) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    Attribute element = builder.getFloatAttr(vector.getElementType(), value);
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(vector, element));
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  Value scalar =
      scalarConstant(builder, loc, getElementTypeOrSelf(type), value);
  if (!tensor)
    return scalar;
  return linalg::FillOp::create(builder, loc, scalar,
                                emptyLike(builder, loc, tensor))
      .getResult(0);
}

bool mlir::grad::hasZeros(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && !tensor.getEncoding();
  if (auto vector = dyn_cast<VectorType>(type))
    return isa<FloatType>(vector.getElementType());
  return isa<FloatType, ComplexType>(type);
}

Value mlir::grad::zeros(OpBuilder &builder, Location loc, Type type) {
  return filled(builder, loc, type, 0);
}

bool mlir::grad::hasZerosLike(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? !tensor.getEncoding() : hasZeros(type);
}

Value mlir::grad::zerosLike(OpBuilder &builder, Location loc, Value value) {
  if (hasZeros(value.getType()))
    return zeros(builder, loc, value.getType());
  return zerosLike(builder, loc, value, getElementTypeOrSelf(value.getType()));
}

Value mlir::grad::zerosLike(OpBuilder &builder, Location loc, Value value,
                            Type element) {
  return zeros(builder, loc, tensor::getMixedSizes(builder, loc, value),
               element);
}

Value mlir::grad::zeros(OpBuilder &builder, Location loc,
                        ArrayRef<OpFoldResult> sizes, Type element) {
  Value zero = zeros(builder, loc, element);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

static Value addScalars(OpBuilder &builder, Location loc, Value x, Value y) {
  if (isa<ComplexType>(x.getType()))
    return complex::AddOp::create(builder, loc, x, y);
  return arith::AddFOp::create(builder, loc, x, y);
}

Value mlir::grad::addInto(OpBuilder &builder, Location loc, Value x, Value y) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type)
    return addScalars(builder, loc, x, y);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, y, x, ArrayRef{identity, identity}, iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc,
                                       addScalars(b, loc, args[1], args[0]));
             })
      .getResult(0);
}

Type mlir::grad::getAccumulatorType(Type element) {
  return element.isBF16() || element.isF16()
             ? Float32Type::get(element.getContext())
             : element;
}

Value mlir::grad::sumElements(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto scalar =
      RankedTensorType::get({}, getAccumulatorType(type.getElementType()));
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap nowhere = AffineMap::get(type.getRank(), 0, builder.getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::reduction);
  Value sum =
      linalg::GenericOp::create(
          builder, loc, scalar, tensor, zeros(builder, loc, scalar),
          ArrayRef{identity, nowhere}, iterators,
          [](OpBuilder &b, Location loc, ValueRange args) {
            Value term = convertElements(b, loc, args[0], args[1].getType());
            linalg::YieldOp::create(b, loc, addScalars(b, loc, args[1], term));
          })
          .getResult(0);
  Value element = tensor::ExtractOp::create(builder, loc, sum, ValueRange{});
  return convertElements(builder, loc, element, type.getElementType());
}

Value mlir::grad::convertElements(OpBuilder &builder, Location loc, Value value,
                                  Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  Type to = getElementTypeOrSelf(type);
  if (from == to)
    return value;
  auto convert = [&](OpBuilder &b, Value scalar) -> Value {
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, to, scalar);
    return arith::TruncFOp::create(b, loc, to, scalar);
  };
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return convert(builder, value);
  AffineMap identity = builder.getMultiDimIdentityMap(tensor.getRank());
  SmallVector<utils::IteratorType> iterators(tensor.getRank(),
                                             utils::IteratorType::parallel);
  Value empty = emptyLike(builder, loc, value, to);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), value, empty,
             ArrayRef{identity, identity}, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, convert(b, args[0]));
             })
      .getResult(0);
}

SmallVector<ReassociationIndices> mlir::grad::getUnitDimGroups(AffineMap map) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!isa<AffineConstantExpr>(expr)) {
      groups.push_back(std::move(leading));
      leading.clear();
      groups.back().push_back(dim);
    } else if (groups.empty()) {
      leading.push_back(dim);
    } else {
      groups.back().push_back(dim);
    }
  }
  return groups;
}

OpFoldResult mlir::grad::addIndices(OpBuilder &b, Location loc, OpFoldResult x,
                                    OpFoldResult y) {
  std::optional<int64_t> left = getConstantIntValue(x);
  std::optional<int64_t> right = getConstantIntValue(y);
  if (left && right)
    return b.getIndexAttr(*left + *right);
  return arith::AddIOp::create(b, loc,
                               getValueOrCreateConstantIndexOp(b, loc, x),
                               getValueOrCreateConstantIndexOp(b, loc, y))
      .getResult();
}

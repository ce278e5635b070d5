//===- ProductTree.cpp - A product reduction as elementwise products ------===//

#include "Rules/ProductTree.h"

#include "Rules/Expansion.h"
#include "Rules/PruneInputs.h"
#include "Rules/Reduction.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

LogicalResult ProductTree::build(OpBuilder &b) {
  if (failed(orderLoops()))
    return failure();
  ops = collectCreated(b, [&] { product = buildProduct(b); });
  return success();
}

LogicalResult ProductTree::orderLoops() {
  ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, ShapedType::isDynamic))
    return op->emitOpError(
        "has no derivative rule for a product over dynamic shapes");
  OpOperand *init = op.getDpsInitOperand(number);
  auto shape = cast<ShapedType>(init->get().getType()).getShape();
  for (auto [expr, size] :
       llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), shape)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && !llvm::is_contained(kept, dim.getPosition()))
      kept.push_back(dim.getPosition());
    else if (dim || !isa<AffineConstantExpr>(expr) || size != 1)
      return op->emitOpError("has no derivative rule for a product at "
                             "positions that overlap");
  }
  for (unsigned dim = 0; dim < ranges.size(); ++dim)
    if (!llvm::is_contained(kept, dim))
      reduced.push_back(dim);
  return success();
}

/// A loop nest that writes the factor of every point: the kept dimensions
/// first.
Value ProductTree::buildFactors(OpBuilder &b) {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    values.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand));
  }
  SmallVector<AffineExpr> position;
  SmallVector<int64_t> shape;
  for (unsigned dim : llvm::concat<unsigned>(kept, reduced)) {
    position.push_back(b.getAffineDimExpr(dim));
    shape.push_back(ranges[dim]);
  }
  maps.push_back(AffineMap::get(ranges.size(), 0, position, b.getContext()));
  Block *block = op.getBlock();
  Value yielded = block->getTerminator()->getOperand(number);
  auto type =
      RankedTensorType::get(shape, getAccumulatorType(yielded.getType()));
  SmallVector<utils::IteratorType> iterators(ranges.size(),
                                             utils::IteratorType::parallel);
  auto nest = linalg::GenericOp::create(
      b, loc, type, values, emptyLike(b, loc, type), maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(block->getArguments(), args);
        // What is a multiple of the old value has this factor.
        mapping.map(getOutArgument(op, number),
                    filled(body, loc, yielded.getType(), 1));
        for (Operation &inner : block->without_terminator())
          if (!isa<cf::AssertOp>(inner))
            body.clone(inner, mapping);
        linalg::YieldOp::create(
            body, loc,
            convertElements(body, loc, mapping.lookupOrDefault(yielded),
                            type.getElementType()));
      });
  return pruneInputs(b, nest).getResult(0);
}

/// The products along the last dimension of `factors`, which remains with size
/// one.
Value ProductTree::multiply(OpBuilder &b, Value factors) {
  auto slice = [&](int64_t offset, int64_t size) -> Value {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(factors.getType()).getShape());
    shape.back() = size;
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
    offsets.back() = b.getIndexAttr(offset);
    return tensor::ExtractSliceOp::create(
        b, loc, factors, offsets, getAsIndexOpFoldResult(b.getContext(), shape),
        strides);
  };
  SmallVector<Value> left;
  auto width = cast<RankedTensorType>(factors.getType()).getShape().back();
  for (; width > 1; width /= 2) {
    if (width % 2 != 0)
      left.push_back(slice(width - 1, 1));
    factors = arith::MulFOp::create(b, loc, slice(0, width / 2),
                                    slice(width / 2, width / 2));
  }
  for (Value factor : left)
    factors = arith::MulFOp::create(b, loc, factors, factor);
  return factors;
}

Value ProductTree::buildProduct(OpBuilder &b) {
  OpOperand *init = op.getDpsInitOperand(number);
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  if (llvm::is_contained(ranges, 0))
    return init->get();
  Value factors = buildFactors(b);
  SmallVector<ReassociationIndices> groups(kept.size() + 1);
  for (unsigned dim = 0; dim < ranges.size(); ++dim)
    groups[std::min<size_t>(dim, kept.size())].push_back(dim);
  if (reduced.size() > 1)
    factors = tensor::CollapseShapeOp::create(b, loc, factors, groups);
  Value product = multiply(b, factors);

  groups.resize(kept.size());
  if (!kept.empty())
    groups.back() = {kept.size() - 1, kept.size()};
  product = tensor::CollapseShapeOp::create(b, loc, product, groups);
  auto wide = RankedTensorType::get(type.getShape(),
                                    getAccumulatorType(type.getElementType()));
  if (wide.getRank() != static_cast<int64_t>(kept.size()))
    product = tensor::ExpandShapeOp::create(
        b, loc, wide, product,
        getUnitDimGroups(op.getMatchingIndexingMap(init)));
  product = arith::MulFOp::create(
      b, loc, convertElements(b, loc, init->get(), wide), product);
  return convertElements(b, loc, product, type);
}

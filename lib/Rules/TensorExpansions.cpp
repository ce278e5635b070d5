//===- TensorExpansions.cpp - Tensor ops as loop nests --------------------===//

#include "Rules/TensorExpansions.h"

#include "Rules/Expansion.h"
#include "Rules/Rules.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

/// A tensor whose element at each position is what `build` makes of it.
static Value
mapPositions(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
             Type element,
             function_ref<Value(OpBuilder &, Location, ValueRange)> build) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(sizes.size()), iterators,
             [&](OpBuilder &body, Location loc, ValueRange) {
               SmallVector<Value> position;
               for (unsigned dim = 0; dim < sizes.size(); ++dim)
                 position.push_back(linalg::IndexOp::create(body, loc, dim));
               linalg::YieldOp::create(body, loc, build(body, loc, position));
             })
      .getResult(0);
}

/// The same for the body of an op that gets the position as arguments.
static Value mapPositions(OpBuilder &b, Location loc,
                          ArrayRef<OpFoldResult> sizes, RankedTensorType type,
                          Block &block) {
  Value result = mapPositions(
      b, loc, sizes, type.getElementType(),
      [&](OpBuilder &body, Location, ValueRange position) {
        IRMapping mapping;
        mapping.map(block.getArguments(), position);
        for (Operation &inner : block.without_terminator())
          body.clone(inner, mapping);
        return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
      });
  if (result.getType() == type)
    return result;
  return tensor::CastOp::create(b, loc, type, result);
}

static FailureOr<SmallVector<Value>> expandGenerate(OpBuilder &b,
                                                    tensor::GenerateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return SmallVector<Value>{
      mapPositions(b, op.getLoc(),
                   getMixedValues(type.getShape(), op.getDynamicExtents(), b),
                   type, op.getBody().front())};
}

/// The source over a tensor of nothing but padding.
FailureOr<SmallVector<Value>> mlir::grad::expandPad(OpBuilder &b,
                                                    tensor::PadOp op) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> low = op.getMixedLowPad();
  SmallVector<OpFoldResult> inner =
      tensor::getMixedSizes(b, loc, op.getSource());
  SmallVector<OpFoldResult> sizes;
  for (auto [before, size, after] :
       llvm::zip_equal(low, inner, op.getMixedHighPad()))
    sizes.push_back(
        addIndices(b, loc, addIndices(b, loc, before, size), after));
  Value padding =
      mapPositions(b, loc, sizes, op.getResultType(), op.getRegion().front());
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  Value result = tensor::InsertSliceOp::create(b, loc, op.getSource(), padding,
                                               low, inner, strides);
  return SmallVector<Value>{result};
}

/// The coordinates that `indices` has at `place`.
static SmallVector<Value> readCoordinates(OpBuilder &b, Location loc,
                                          Value indices, ValueRange place) {
  SmallVector<Value> coordinates;
  int64_t count = cast<RankedTensorType>(indices.getType()).getShape().back();
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<Value> at(place);
    at.push_back(arith::ConstantIndexOp::create(b, loc, number));
    Value index = tensor::ExtractOp::create(b, loc, indices, at);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    coordinates.push_back(index);
  }
  return coordinates;
}

/// Leading dimensions of the result number the positions, the others are the
/// dimensions of the slice; those that are gathered along are dropped, or have
/// size one.
static FailureOr<SmallVector<Value>> expandGather(OpBuilder &b,
                                                  tensor::GatherOp op) {
  RankedTensorType type = op.getResultType();
  RankedTensorType source = op.getSourceType();
  unsigned batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool isReduced = type.getRank() != batch + source.getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), op.getIndices());
  sizes.pop_back();
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    bool isGathered = llvm::is_contained(gathered, dim);
    if (!isGathered)
      sizes.push_back(
          tensor::getMixedSize(b, op.getLoc(), op.getSource(), dim));
    else if (!isReduced)
      sizes.push_back(b.getIndexAttr(1));
  }
  Value result = mapPositions(
      b, op.getLoc(), sizes, type.getElementType(),
      [&](OpBuilder &body, Location loc, ValueRange position) -> Value {
        SmallVector<Value> coordinates = readCoordinates(
            body, loc, op.getIndices(), position.take_front(batch));
        ValueRange rest = position.drop_front(batch), chosen = coordinates;
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < source.getRank(); ++dim) {
          bool isGathered = llvm::is_contained(gathered, dim);
          ValueRange &from = isGathered ? chosen : rest;
          at.push_back(from.front());
          from = from.drop_front();
          if (isGathered && !isReduced)
            rest = rest.drop_front();
        }
        return tensor::ExtractOp::create(body, loc, op.getSource(), at);
      });
  return SmallVector<Value>{result};
}

/// One slice after the other is inserted.
static FailureOr<SmallVector<Value>> expandScatter(OpBuilder &b,
                                                   tensor::ScatterOp op) {
  Location loc = op.getLoc();
  RankedTensorType source = op.getSourceType(), type = op.getDestType();
  unsigned batch = op.getIndicesType().getRank() - 1;
  SmallVector<OpFoldResult> from =
      tensor::getMixedSizes(b, loc, op.getSource());
  SmallVector<Value> zeros(batch, arith::ConstantIndexOp::create(b, loc, 0));
  SmallVector<Value> ones(batch, arith::ConstantIndexOp::create(b, loc, 1));
  SmallVector<Value> counts =
      getValueOrCreateConstantIndexOp(b, loc, ArrayRef(from).take_front(batch));
  SmallVector<OpFoldResult> into = tensor::getMixedSizes(b, loc, op.getDest());
  for (int64_t dim : op.getScatterDims())
    into[dim] = b.getIndexAttr(1);
  std::fill_n(from.begin(), batch, b.getIndexAttr(1));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, zeros, counts, ones, op.getDest(),
      [&](OpBuilder &body, Location loc, ValueRange ivs, ValueRange carried) {
        SmallVector<OpFoldResult> offsets = getAsOpFoldResult(ivs);
        offsets.resize(source.getRank(), body.getIndexAttr(0));
        SmallVector<OpFoldResult> strides(source.getRank(),
                                          body.getIndexAttr(1));
        auto sliceType = RankedTensorType::get(
            source.getShape().drop_front(batch), source.getElementType());
        Value slice = tensor::ExtractSliceOp::create(
            body, loc, sliceType, op.getSource(), offsets, from, strides);
        offsets.assign(type.getRank(), body.getIndexAttr(0));
        for (auto [dim, at] :
             llvm::zip_equal(op.getScatterDims(),
                             readCoordinates(body, loc, op.getIndices(), ivs)))
          offsets[dim] = at;
        strides.assign(type.getRank(), body.getIndexAttr(1));
        Value inserted = tensor::InsertSliceOp::create(
            body, loc, slice, carried.front(), offsets, into, strides);
        return SmallVector<Value>{inserted};
      });
  return SmallVector<Value>(nest.results);
}

static void attach(MLIRContext *context, tensor::TensorDialect *) {
  expansion<tensor::GenerateOp>(context, expandGenerate);
  expansion<tensor::GatherOp>(context, expandGather);
  expansion<tensor::ScatterOp>(context, expandScatter);
}

void mlir::grad::registerTensorExpansions(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

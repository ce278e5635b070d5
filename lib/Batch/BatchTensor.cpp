//===- BatchTensor.cpp - Batching of the tensor dialect -------------------===//
//
// What happens to the dimensions of a row leaves the leading dimension alone.
//
//===----------------------------------------------------------------------===//

#include "Batch/BatchRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The groups of dimensions of a reshape with the leading one in front.
static SmallVector<ReassociationIndices>
batchGroups(ArrayRef<ReassociationIndices> groups, int64_t numDims) {
  SmallVector<ReassociationIndices> batched{{0}};
  // Dimensions of size one against a scalar belong to no group of their own.
  if (groups.empty())
    for (int64_t i = 0; i < numDims; ++i)
      batched[0].push_back(i + 1);
  for (const ReassociationIndices &group : groups)
    batched.push_back(
        llvm::map_to_vector<2>(group, [](int64_t dim) { return dim + 1; }));
  return batched;
}

static LogicalResult batchCollapseShape(Operation *op, BlockBatch &batch) {
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  batch.replace(op, tensor::CollapseShapeOp::create(
                        batch.builder(), op->getLoc(),
                        batch.getFormType(collapse.getType()),
                        batch.getForm(collapse.getSrc()),
                        batchGroups(collapse.getReassociationIndices(),
                                    collapse.getSrcType().getRank()))
                        .getResult());
  return success();
}

static LogicalResult batchExpandShape(Operation *op, BlockBatch &batch) {
  auto expand = cast<tensor::ExpandShapeOp>(op);
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  if (batch.anyBatched(sizes))
    return batch.refuseShape(op);
  batch.replace(op, tensor::ExpandShapeOp::create(
                        batch.builder(), op->getLoc(),
                        batch.getFormType(expand.getType()),
                        batch.getForm(expand.getSrc()),
                        batchGroups(expand.getReassociationIndices(),
                                    expand.getResultType().getRank()),
                        batch.prepend(batch.getSize(), sizes))
                        .getResult());
  return success();
}

static LogicalResult batchReshape(Operation *op, BlockBatch &batch) {
  auto reshape = cast<tensor::ReshapeOp>(op);
  auto type = cast<RankedTensorType>(batch.getFormType(reshape.getType()));
  if (!type.hasStaticShape())
    return batch.refuseShape(op);
  OpBuilder &b = batch.builder();
  Value shape = arith::ConstantOp::create(
      b, op->getLoc(), b.getIndexTensorAttr(type.getShape()));
  batch.replace(
      op, tensor::ReshapeOp::create(b, op->getLoc(), type,
                                    batch.getForm(reshape.getSource()), shape)
              .getResult());
  return success();
}

static LogicalResult batchCast(Operation *op, BlockBatch &batch) {
  auto cast = llvm::cast<tensor::CastOp>(op);
  batch.replace(op, tensor::CastOp::create(batch.builder(), op->getLoc(),
                                           batch.getFormType(cast.getType()),
                                           batch.getForm(cast.getSource()))
                        .getResult());
  return success();
}

/// A size of a tensor is the same for every row.
static LogicalResult batchDim(Operation *op, BlockBatch &batch) {
  auto dim = cast<tensor::DimOp>(op);
  if (batch.isBatched(dim.getIndex()))
    return batchByLoop(op, batch);
  OpBuilder &b = batch.builder();
  Value one = arith::ConstantIndexOp::create(b, op->getLoc(), 1);
  Value index = arith::AddIOp::create(b, op->getLoc(), dim.getIndex(), one);
  batch.replaceUnbatched(
      op, tensor::DimOp::create(b, op->getLoc(), batch.getForm(dim.getSource()),
                                index)
              .getResult());
  return success();
}

static LogicalResult batchEmpty(Operation *op, BlockBatch &batch) {
  // Only its sizes can be batched.
  return batch.refuseShape(op);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static LogicalResult batchInsertSlice(Operation *op, BlockBatch &batch) {
  auto slice = cast<tensor::InsertSliceOp>(op);
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                            sizes = slice.getMixedSizes(),
                            strides = slice.getMixedStrides();
  if (batch.anyBatched(offsets) || batch.anyBatched(sizes) ||
      batch.anyBatched(strides))
    return batchByLoop(op, batch);
  batch.replace(
      op, tensor::InsertSliceOp::create(
              batch.builder(), op->getLoc(), batch.getForm(slice.getSource()),
              batch.getForm(slice.getDest()), batch.prepend(0, offsets),
              batch.prepend(batch.getSize(), sizes), batch.prepend(1, strides))
              .getResult());
  return success();
}

static LogicalResult batchPad(Operation *op, BlockBatch &batch) {
  auto pad = cast<tensor::PadOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                            high = pad.getMixedHighPad();
  if (batch.anyBatched(low) || batch.anyBatched(high))
    return batch.refuseShape(op);
  Value padding =
      cast<tensor::YieldOp>(pad.getBody()->getTerminator()).getValue();
  if (padding.getParentRegion() == &pad.getRegion()) {
    Operation *constant = padding.getDefiningOp();
    if (!constant || !constant->hasTrait<OpTrait::ConstantLike>())
      return batchByLoop(op, batch);
    padding = b.clone(*constant)->getResult(0);
  }
  RankedTensorType type = pad.getResultType();
  Value source = batch.getForm(pad.getSource());
  if (!batch.isBatched(padding)) {
    batch.replace(op, tensor::PadOp::create(b, loc, batch.getFormType(type),
                                            source, batch.prepend(0, low),
                                            batch.prepend(0, high), padding,
                                            pad.getNofold())
                          .getResult());
    return success();
  }
  if (!type.hasStaticShape())
    return batch.refuseShape(op);
  Value filled = batch.build(
      loc, type, {}, batch.getInput(padding, type.getRank()),
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  batch.replace(op, tensor::InsertSliceOp::create(
                        b, loc, source, filled, batch.prepend(0, low),
                        batch.prepend(batch.getSize(),
                                      batch.getRowSizes(pad.getSource())),
                        batch.prepend(1, ones))
                        .getResult());
  return success();
}

static LogicalResult batchConcat(Operation *op, BlockBatch &batch) {
  auto concat = cast<tensor::ConcatOp>(op);
  SmallVector<Value> inputs;
  for (Value input : concat.getInputs())
    inputs.push_back(batch.getForm(input));
  batch.replace(
      op, tensor::ConcatOp::create(batch.builder(), op->getLoc(),
                                   batch.getFormType(concat.getResultType()),
                                   concat.getDim() + 1, inputs)
              .getResult());
  return success();
}

void mlir::grad::addTensorBatchRules(BatchRules &rules) {
  rules.add<tensor::CastOp>(batchCast);
  rules.add<tensor::CollapseShapeOp>(batchCollapseShape);
  rules.add<tensor::ConcatOp>(batchConcat);
  rules.add<tensor::DimOp>(batchDim);
  rules.add<tensor::EmptyOp>(batchEmpty);
  rules.add<tensor::ExpandShapeOp>(batchExpandShape);
  rules.add<tensor::InsertSliceOp>(batchInsertSlice);
  rules.add<tensor::PadOp>(batchPad);
  rules.add<tensor::ReshapeOp>(batchReshape);
}

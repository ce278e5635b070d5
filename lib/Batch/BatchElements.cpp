//===- BatchElements.cpp - Batching of access to elements -----------------===//
//
// Elements at positions that are the same for every row are slices of the
// batched tensor. Where the row decides on positions, a structured op gathers.
//
//===----------------------------------------------------------------------===//

#include "Batch/BatchRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Positions that the row decides on
//===----------------------------------------------------------------------===//

namespace {
/// A list of indices for the body of a loop nest: constants, values that are
/// the same for every row, and inputs of the nest.
class Positions {
public:
  Positions(BlockBatch &batch, ArrayRef<OpFoldResult> list, unsigned rank)
      : list(list) {
    for (OpFoldResult entry : list)
      if (batch.anyBatched(entry)) {
        inputNumbers.push_back(inputs.size());
        inputs.push_back(batch.getInput(cast<Value>(entry), rank));
      } else {
        inputNumbers.push_back(-1);
      }
  }

  /// Entry `i`, in a body whose arguments `args` start with `inputs`.
  Value get(OpBuilder &body, Location loc, unsigned i, ValueRange args) const {
    return inputNumbers[i] < 0
               ? getValueOrCreateConstantIndexOp(body, loc, list[i])
               : args[inputNumbers[i]];
  }

  SmallVector<BlockBatch::Input> inputs;

private:
  SmallVector<OpFoldResult> list;
  SmallVector<int> inputNumbers;
};
} // namespace

/// The element of the row that the nest is in, at `position` of `tensor`.
static Value extractInBody(OpBuilder &body, Location loc, BlockBatch &batch,
                           Value tensor, ArrayRef<Value> position) {
  SmallVector<Value> indices;
  if (batch.isBatched(tensor))
    indices.push_back(linalg::IndexOp::create(body, loc, 0));
  llvm::append_range(indices, position);
  return tensor::ExtractOp::create(body, loc, batch.getFormOrSelf(tensor),
                                   indices);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static LogicalResult batchExtract(Operation *op, BlockBatch &batch) {
  auto extract = cast<tensor::ExtractOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(extract.getIndices());
  if (batch.anyBatched(indices)) {
    Positions positions(batch, indices, /*rank=*/0);
    batch.replace(
        op,
        batch.build(loc, extract.getType(), {}, positions.inputs,
                    [&](OpBuilder &body, Location loc, ValueRange args) {
                      SmallVector<Value> position;
                      for (unsigned i = 0; i < indices.size(); ++i)
                        position.push_back(positions.get(body, loc, i, args));
                      return extractInBody(body, loc, batch,
                                           extract.getTensor(), position);
                    }));
    return success();
  }
  unsigned rank = indices.size();
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  batch.replace(
      op,
      tensor::ExtractSliceOp::create(
          b, loc, cast<RankedTensorType>(batch.getFormType(extract.getType())),
          batch.getForm(extract.getTensor()), batch.prepend(0, indices),
          batch.prepend(batch.getSize(), ones), batch.prepend(1, ones))
          .getResult());
  return success();
}

static LogicalResult batchInsert(Operation *op, BlockBatch &batch) {
  auto insert = cast<tensor::InsertOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(insert.getIndices());
  unsigned rank = indices.size();
  if (!batch.anyBatched(indices)) {
    SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
    batch.replace(
        op, tensor::InsertSliceOp::create(
                b, loc, batch.getForm(insert.getScalar()),
                batch.getForm(insert.getDest()), batch.prepend(0, indices),
                batch.prepend(batch.getSize(), ones), batch.prepend(1, ones))
                .getResult());
    return success();
  }
  Positions positions(batch, indices, rank);
  SmallVector<BlockBatch::Input> inputs = positions.inputs;
  inputs.push_back(batch.getInput(insert.getScalar(), rank));
  inputs.push_back(batch.getInput(insert.getDest(), rank));
  auto choose = [&](OpBuilder &body, Location loc, ValueRange args) -> Value {
    Value isHere;
    for (unsigned i = 0; i < rank; ++i) {
      Value equal =
          arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq,
                                linalg::IndexOp::create(body, loc, i + 1),
                                positions.get(body, loc, i, args));
      isHere = isHere ? arith::AndIOp::create(body, loc, isHere, equal) : equal;
    }
    ValueRange values = args.drop_front(positions.inputs.size());
    return arith::SelectOp::create(body, loc, isHere, values[0], values[1]);
  };
  batch.replace(op, batch.build(loc, insert.getType(),
                                batch.getRowSizes(insert.getDest()), inputs,
                                choose));
  return success();
}

static LogicalResult batchSplat(Operation *op, BlockBatch &batch) {
  auto splat = cast<tensor::SplatOp>(op);
  auto type = cast<RankedTensorType>(splat.getType());
  SmallVector<OpFoldResult> sizes =
      getMixedValues(type.getShape(), splat.getDynamicSizes(), batch.builder());
  if (batch.anyBatched(sizes))
    return batch.refuseShape(op);
  batch.replace(op,
                batch.build(op->getLoc(), type, sizes,
                            batch.getInput(splat.getInput(), type.getRank()),
                            [](OpBuilder &, Location,
                               ValueRange args) -> Value { return args[0]; }));
  return success();
}

static LogicalResult batchFromElements(Operation *op, BlockBatch &batch) {
  auto fromElements = cast<tensor::FromElementsOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  auto row = cast<RankedTensorType>(fromElements.getType());
  int64_t numElements = row.getNumElements(), rank = row.getRank();
  Value rows;
  if (numElements == 1) {
    rows = batch.getForm(fromElements.getElements()[0]);
  } else {
    rows = batch.empty(
        loc, RankedTensorType::get(numElements, row.getElementType()));
    OpFoldResult one = b.getIndexAttr(1);
    for (auto [number, element] : llvm::enumerate(fromElements.getElements()))
      rows = tensor::InsertSliceOp::create(
          b, loc, batch.getForm(element), rows,
          batch.prepend(0, {b.getIndexAttr(number)}),
          batch.prepend(batch.getSize(), one), batch.prepend(1, one));
  }
  if (rank != cast<RankedTensorType>(rows.getType()).getRank() - 1) {
    SmallVector<ReassociationIndices> groups{{0}};
    if (numElements != 1)
      groups.emplace_back();
    for (int64_t i = 0; i < rank; ++i)
      groups.back().push_back(i + 1);
    rows = tensor::ExpandShapeOp::create(b, loc, batch.getFormType(row), rows,
                                         groups);
  }
  batch.replace(op, rows);
  return success();
}

//===----------------------------------------------------------------------===//
// Slices and gathers
//===----------------------------------------------------------------------===//

static LogicalResult batchExtractSlice(Operation *op, BlockBatch &batch) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  RankedTensorType type = slice.getType();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                            sizes = slice.getMixedSizes(),
                            strides = slice.getMixedStrides();
  if (batch.anyBatched(sizes))
    return batch.refuseShape(op);
  if (!batch.anyBatched(offsets) && !batch.anyBatched(strides)) {
    batch.replace(
        op,
        tensor::ExtractSliceOp::create(
            b, loc, cast<RankedTensorType>(batch.getFormType(type)),
            batch.getForm(slice.getSource()), batch.prepend(0, offsets),
            batch.prepend(batch.getSize(), sizes), batch.prepend(1, strides))
            .getResult());
    return success();
  }
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<OpFoldResult> list(offsets), rowSizes;
  llvm::append_range(list, strides);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      rowSizes.push_back(size);
  Positions positions(batch, list, type.getRank());
  auto gather = [&](OpBuilder &body, Location loc, ValueRange args) {
    SmallVector<Value> position;
    unsigned next = 1;
    for (unsigned dim = 0, e = offsets.size(); dim < e; ++dim) {
      Value at = positions.get(body, loc, dim, args);
      if (!dropped.test(dim)) {
        Value index = linalg::IndexOp::create(body, loc, next++);
        Value stride = positions.get(body, loc, e + dim, args);
        Value distance = arith::MulIOp::create(body, loc, index, stride);
        at = arith::AddIOp::create(body, loc, at, distance);
      }
      position.push_back(at);
    }
    return extractInBody(body, loc, batch, slice.getSource(), position);
  };
  batch.replace(op, batch.build(loc, type, rowSizes, positions.inputs, gather));
  return success();
}

/// Becomes a structured op that reads one element for each of the result.
static LogicalResult batchGather(Operation *op, BlockBatch &batch) {
  auto gather = cast<tensor::GatherOp>(op);
  RankedTensorType type = gather.getResultType();
  if (!type.hasStaticShape())
    return batch.refuseShape(op);
  ArrayRef<int64_t> gatherDims = gather.getGatherDims();
  int64_t sourceRank = gather.getSourceType().getRank();
  int64_t numBatchDims = gather.getIndicesType().getRank() - 1;
  bool dropsDims = type.getRank() != numBatchDims + sourceRank;
  auto read = [&](OpBuilder &body, Location loc, ValueRange) {
    SmallVector<Value> indices;
    for (int64_t i = 0; i < numBatchDims; ++i)
      indices.push_back(linalg::IndexOp::create(body, loc, i + 1));
    SmallVector<Value> position;
    int64_t next = numBatchDims + 1;
    for (int64_t dim = 0; dim < sourceRank; ++dim) {
      const auto *at = llvm::find(gatherDims, dim);
      if (at == gatherDims.end()) {
        position.push_back(linalg::IndexOp::create(body, loc, next++));
        continue;
      }
      next += !dropsDims;
      indices.push_back(
          arith::ConstantIndexOp::create(body, loc, at - gatherDims.begin()));
      Value index =
          extractInBody(body, loc, batch, gather.getIndices(), indices);
      indices.pop_back();
      if (!index.getType().isIndex())
        index =
            arith::IndexCastOp::create(body, loc, body.getIndexType(), index);
      position.push_back(index);
    }
    return extractInBody(body, loc, batch, gather.getSource(), position);
  };
  batch.replace(op, batch.build(op->getLoc(), type, {}, {}, read));
  return success();
}

void mlir::grad::addElementBatchRules(BatchRules &rules) {
  rules.add<tensor::ExtractOp>(batchExtract);
  rules.add<tensor::ExtractSliceOp>(batchExtractSlice);
  rules.add<tensor::FromElementsOp>(batchFromElements);
  rules.add<tensor::GatherOp>(batchGather);
  rules.add<tensor::InsertOp>(batchInsert);
  rules.add<tensor::SplatOp>(batchSplat);
}

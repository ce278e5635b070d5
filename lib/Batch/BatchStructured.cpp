//===- BatchStructured.cpp - Batching of ops with a scalar body -----------===//
//
// One more parallel loop in front, over the rows. A batched operand is read at
// the row, any other is read as before. Values from outside that the body
// reads are either scalars, which become operands, or tensors, from which it
// reads elements of the row.
//
//===----------------------------------------------------------------------===//

#include "Batch/BatchRules.h"
#include "GradDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static AffineMap batchMap(AffineMap map, bool isBatched) {
  AffineMap shifted = map.shiftDims(1);
  return isBatched
             ? shifted.insertResult(getAffineDimExpr(0, map.getContext()), 0)
             : shifted;
}

namespace {
/// The batched values from outside that the body of an op reads.
struct Captures {
  Captures(Operation *op, BlockBatch &batch) {
    for (Value value : batch.getBatchedCaptures(op))
      (isa<RankedTensorType>(value.getType()) ? tensors : scalars)
          .push_back(value);
  }

  /// Adds the scalars to what a loop nest of `numLoops` reads.
  void addInputs(BlockBatch &batch, unsigned numLoops,
                 SmallVectorImpl<Value> &values,
                 SmallVectorImpl<AffineMap> &maps) const {
    AffineExpr row = batch.builder().getAffineDimExpr(0);
    for (Value scalar : scalars) {
      values.push_back(batch.getForm(scalar));
      maps.push_back(AffineMap::get(numLoops, 0, row));
    }
  }

  SmallVector<Value> scalars, tensors;
};
} // namespace

/// Clones the body of `op`, without its terminator, to the end of a body that
/// has one loop more in front. `makeRow` makes the index of that loop.
static void cloneBody(Operation *op, const Captures &captures,
                      BlockBatch &batch, OpBuilder &body, IRMapping &mapping,
                      function_ref<Value(OpBuilder &)> makeRow) {
  Value row = captures.tensors.empty() ? Value() : makeRow(body);
  SmallVector<Operation *> clones;
  for (Operation &inner : op->getRegion(0).front().without_terminator())
    clones.push_back(body.clone(inner, mapping));

  // Reads a row as a tensor, where it is not read element by element.
  DenseMap<Value, Value> rows;
  auto getRow = [&](Value tensor) {
    Value &slice = rows[tensor];
    if (!slice) {
      OpBuilder::InsertionGuard guard(body);
      body.setInsertionPointAfterValue(row);
      slice = batch.extractRow(body, op->getLoc(), tensor, row);
    }
    return slice;
  };
  auto isCaptured = [&](Value value) {
    return llvm::is_contained(captures.tensors, value);
  };
  auto rewrite = [&](Operation *inner) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      // Not that of a structured op within the body.
      if (!index->getParentOfType<linalg::LinalgOp>())
        index.setDim(index.getDim() + 1);
    } else if (auto index = dyn_cast<LoopIndexOp>(inner)) {
      index.setDim(index.getDim() + 1);
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner);
               extract && isCaptured(extract.getTensor())) {
      SmallVector<Value> operands{batch.getForm(extract.getTensor()), row};
      llvm::append_range(operands, extract.getIndices());
      extract->setOperands(operands);
    } else {
      for (OpOperand &operand : inner->getOpOperands())
        if (isCaptured(operand.get()))
          operand.set(getRow(operand.get()));
    }
  };
  for (Operation *clone : clones)
    clone->walk(rewrite);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult mlir::grad::batchLinalg(Operation *op, BlockBatch &batch) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  unsigned numLoops = linalgOp.getNumLoops() + 1;
  Captures captures(op, batch);

  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : linalgOp.getDpsInputOperands()) {
    Value value = operand->get();
    inputs.push_back(batch.getFormOrSelf(value));
    maps.push_back(batchMap(linalgOp.getMatchingIndexingMap(operand),
                            batch.isBatched(value)));
  }
  unsigned numInputs = inputs.size();
  captures.addInputs(batch, numLoops, inputs, maps);
  for (OpOperand &operand : linalgOp.getDpsInitsMutable()) {
    Value value = operand.get();
    inits.push_back(
        linalgOp.payloadUsesValueFromOperand(&operand)
            ? batch.getForm(value)
            : batch.empty(loc, value.getType(), batch.getRowSizes(value)));
    maps.push_back(batchMap(linalgOp.getMatchingIndexingMap(&operand), true));
  }
  SmallVector<utils::IteratorType> iterators{utils::IteratorType::parallel};
  llvm::append_range(iterators, linalgOp.getIteratorTypesArray());

  auto generic = linalg::GenericOp::create(
      b, loc, ValueRange(inits).getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        Block *block = linalgOp.getBlock();
        IRMapping mapping;
        mapping.map(block->getArguments().take_front(numInputs),
                    args.take_front(numInputs));
        mapping.map(captures.scalars,
                    args.slice(numInputs, captures.scalars.size()));
        mapping.map(block->getArguments().drop_front(numInputs),
                    args.take_back(inits.size()));
        cloneBody(op, captures, batch, body, mapping, [&](OpBuilder &b) {
          return linalg::IndexOp::create(b, loc, 0).getResult();
        });
        SmallVector<Value> yielded;
        for (Value value : block->getTerminator()->getOperands())
          yielded.push_back(mapping.lookupOrDefault(value));
        linalg::YieldOp::create(body, loc, yielded);
      });
  batch.replace(op, generic.getResults());
  return success();
}

static LogicalResult batchScatterAdd(Operation *op, BlockBatch &batch) {
  auto scatter = cast<ScatterAddOp>(op);
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  Captures captures(op, batch);
  SmallVector<int64_t> bounds{batch.getSize()};
  llvm::append_range(bounds, scatter.getBounds());

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [value, map] : llvm::zip_equal(
           scatter.getInputs(),
           scatter.getIndexingMaps().getAsValueRange<AffineMapAttr>())) {
    inputs.push_back(batch.getFormOrSelf(value));
    maps.push_back(batchMap(map, batch.isBatched(value)));
  }
  unsigned numInputs = inputs.size();
  captures.addInputs(batch, bounds.size(), inputs, maps);
  auto batched = ScatterAddOp::create(
      b, loc, inputs, batch.getForm(scatter.getInit()), maps, bounds);

  Block &block = batched.getBody().front();
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  ValueRange args = block.getArguments();
  IRMapping mapping;
  mapping.map(scatter.getBody().getArguments(), args.take_front(numInputs));
  mapping.map(captures.scalars, args.drop_front(numInputs));
  auto makeRow = [&](OpBuilder &b) {
    return LoopIndexOp::create(b, loc, 0).getResult();
  };
  cloneBody(op, captures, batch, body, mapping, makeRow);
  SmallVector<Value> yielded{makeRow(body)};
  for (Value value : scatter.getYield().getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  YieldOp::create(body, loc, yielded);
  batch.replace(op, batched.getResult());
  return success();
}

/// Becomes a structured op that reads nothing elementwise.
static LogicalResult batchGenerate(Operation *op, BlockBatch &batch) {
  auto generate = cast<tensor::GenerateOp>(op);
  auto type = cast<RankedTensorType>(generate.getType());
  SmallVector<OpFoldResult> sizes = getMixedValues(
      type.getShape(), generate.getDynamicExtents(), batch.builder());
  if (batch.anyBatched(sizes))
    return batch.refuseShape(op);
  Captures captures(op, batch);
  SmallVector<BlockBatch::Input> inputs;
  for (Value scalar : captures.scalars)
    inputs.push_back(batch.getInput(scalar, type.getRank()));
  Value result = batch.build(
      op->getLoc(), type, sizes, inputs,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(captures.scalars, args.take_front(inputs.size()));
        for (auto [dim, index] :
             llvm::enumerate(generate.getBody().getArguments()))
          mapping.map(index,
                      linalg::IndexOp::create(body, loc, dim + 1).getResult());
        cloneBody(op, captures, batch, body, mapping, [&](OpBuilder &b) {
          return linalg::IndexOp::create(b, loc, 0).getResult();
        });
        return mapping.lookupOrDefault(
            generate.getBody().front().getTerminator()->getOperand(0));
      });
  batch.replace(op, result);
  return success();
}

bool mlir::grad::isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op))
    return false;
  auto isScalar = [](Type type) {
    return type.isIntOrIndexOrFloat() || isa<ComplexType>(type);
  };
  return OpTrait::hasElementwiseMappableTraits(op) ||
         (llvm::all_of(op->getOperandTypes(), isScalar) &&
          llvm::all_of(op->getResultTypes(), isScalar));
}

LogicalResult mlir::grad::batchElementwise(Operation *op, BlockBatch &batch) {
  Type type = op->getResult(0).getType();
  auto tensorType = dyn_cast<RankedTensorType>(type);
  unsigned rank = tensorType ? tensorType.getRank() : 0;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> read;
  SmallVector<BlockBatch::Input> inputs;
  for (Value operand : op->getOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    if (isTensor && sizes.empty())
      sizes = batch.getRowSizes(operand);
    if ((isTensor || batch.isBatched(operand)) &&
        !llvm::is_contained(read, operand)) {
      read.push_back(operand);
      inputs.push_back(batch.getInput(operand, rank));
    }
  }
  Value result =
      batch.build(op->getLoc(), type, sizes, inputs,
                  [&](OpBuilder &body, Location loc, ValueRange args) {
                    IRMapping mapping;
                    mapping.map(read, args.take_front(read.size()));
                    Operation *scalar = body.clone(*op, mapping);
                    scalar->getResult(0).setType(getElementTypeOrSelf(type));
                    return scalar->getResult(0);
                  });
  batch.replace(op, result);
  return success();
}

void mlir::grad::addStructuredBatchRules(BatchRules &rules) {
  rules.add<ScatterAddOp>(batchScatterAdd);
  rules.add<tensor::GenerateOp>(batchGenerate);
}

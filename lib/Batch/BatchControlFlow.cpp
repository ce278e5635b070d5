//===- BatchControlFlow.cpp - Batching of regions, and row by row ---------===//
//
// Control flow that is the same for every row runs once, on batched values.
// Control flow that the rows decide on runs row by row, as does every op
// without a rule.
//
//===----------------------------------------------------------------------===//

#include "Batch/BatchRules.h"
#include "GradDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

/// `values` of one row at index `row` of `rows`.
static Value insertRow(OpBuilder &b, Location loc, Value value, Value rows,
                       Value row) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return tensor::InsertOp::create(b, loc, value, rows, row);
  // Slices of empty tensors do not verify.
  if (llvm::is_contained(type.getShape(), 0))
    return rows;
  OpFoldResult one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(type.getRank() + 1, b.getIndexAttr(0)),
      sizes{one}, strides(type.getRank() + 1, one);
  offsets.front() = row;
  llvm::append_range(sizes,
                     getAsIndexOpFoldResult(b.getContext(), type.getShape()));
  return tensor::InsertSliceOp::create(b, loc, value, rows, offsets, sizes,
                                       strides);
}

LogicalResult mlir::grad::batchByLoop(Operation *op, BlockBatch &batch) {
  OpBuilder &b = batch.builder();
  Location loc = op->getLoc();
  SmallVector<Value> rows;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape())
      return batch.refuseShape(op);
    rows.push_back(batch.empty(loc, type));
  }
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);

  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value size = arith::ConstantIndexOp::create(b, loc, batch.getSize());
  auto loop = scf::ForOp::create(
      b, loc, zero, size, one, rows,
      [&](OpBuilder &body, Location loc, Value row, ValueRange rows) {
        IRMapping mapping;
        for (Value value : read)
          if (batch.isBatched(value))
            mapping.map(value, batch.extractRow(body, loc, value, row));
        Operation *copy = body.clone(*op, mapping);
        SmallVector<Value> yielded;
        for (auto [result, previous] :
             llvm::zip_equal(copy->getResults(), rows))
          yielded.push_back(insertRow(body, loc, result, previous, row));
        scf::YieldOp::create(body, loc, yielded);
      });
  batch.replace(op, loop.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Once for all rows
//===----------------------------------------------------------------------===//

/// Replaces `op` by one with the same regions on `operands`, of which the
/// results in `batched` are batched.
static void rebuild(Operation *op, ValueRange operands,
                    const llvm::SmallBitVector &batched, BlockBatch &batch) {
  batch.builder().setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName(), operands,
                       op->getResultTypes(), op->getAttrs());
  for (unsigned number : batched.set_bits())
    state.types[number] = batch.getFormType(state.types[number]);
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *copy = batch.builder().create(state);
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    if (batched.test(number))
      batch.setForm(result, copy->getResult(number));
    else
      result.replaceAllUsesWith(copy->getResult(number));
  }
  batch.erase(op);
}

/// Makes operands of a terminator, those in `batched`, batched.
static void batchOperands(MutableOperandRange operands,
                          const llvm::SmallBitVector &batched,
                          BlockBatch &batch) {
  for (unsigned number : batched.set_bits())
    operands[number].set(batch.getForm(operands[number].get()));
}

static SmallVector<Value> getForms(ValueRange values,
                                   const llvm::SmallBitVector &batched,
                                   BlockBatch &batch) {
  SmallVector<Value> forms(values);
  for (unsigned number : batched.set_bits())
    forms[number] = batch.getForm(values[number]);
  return forms;
}

/// Each region runs at most once and yields the results. Those that some region
/// yields batched are batched.
static LogicalResult batchRegions(Operation *op, BlockBatch &batch) {
  auto isBatched = [&](Value value) { return batch.isBatched(value); };
  auto isOneBlock = [](Region &region) {
    return region.empty() || region.hasOneBlock();
  };
  if (!llvm::all_of(op->getRegions(), isOneBlock) ||
      llvm::any_of(op->getOperands(), isBatched))
    return batchByLoop(op, batch);
  llvm::SmallBitVector batched(op->getNumResults());
  SmallVector<Operation *> terminators;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (failed(batch.run(region.front())))
      return failure();
    terminators.push_back(region.front().getTerminator());
    for (auto [number, value] :
         llvm::enumerate(terminators.back()->getOperands()))
      if (isBatched(value))
        batched.set(number);
  }
  for (Operation *terminator : terminators)
    batchOperands(MutableOperandRange(terminator), batched, batch);
  rebuild(op, op->getOperands(), batched, batch);
  return success();
}

namespace {
/// Finds out which values of a loop may be batched, before anything of it is.
class LoopDependence {
public:
  explicit LoopDependence(const BlockBatch &batch) : batch(batch) {}

  bool depends(Value value) const {
    return batch.isBatched(value) || dependent.contains(value);
  }

  /// Marks `targets` where the value forwarded to it depends on a batched
  /// one. Returns true when that is new for some.
  bool forward(ValueRange values, ValueRange targets,
               llvm::SmallBitVector &marked) {
    bool changed = false;
    for (auto [number, value] : llvm::enumerate(values))
      if (!marked.test(number) && depends(value)) {
        marked.set(number);
        dependent.insert(targets[number]);
        changed = true;
      }
    return changed;
  }

  /// What reads a dependent value, or contains something that does, has
  /// dependent results.
  void propagate(Block &block) {
    for (Operation &op : block.without_terminator()) {
      WalkResult reads = op.walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value value) { return depends(value); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (reads.wasInterrupted())
        dependent.insert(op.result_begin(), op.result_end());
    }
  }

private:
  const BlockBatch &batch;
  DenseSet<Value> dependent;
};
} // namespace

static LogicalResult batchFor(Operation *op, BlockBatch &batch) {
  auto loop = cast<scf::ForOp>(op);
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (batch.isBatched(bound))
      return batchByLoop(op, batch);

  Block &body = *loop.getBody();
  SmallVector<Value> carried(loop.getRegionIterArgs());
  llvm::SmallBitVector batched(carried.size());
  LoopDependence dependence(batch);
  dependence.forward(loop.getInitArgs(), carried, batched);
  do
    dependence.propagate(body);
  while (dependence.forward(body.getTerminator()->getOperands(), carried,
                            batched));

  for (unsigned number : batched.set_bits())
    batch.batchArgument(cast<BlockArgument>(carried[number]));
  if (failed(batch.run(body)))
    return failure();
  batchOperands(MutableOperandRange(body.getTerminator()), batched, batch);
  SmallVector<Value> operands(op->getOperands().take_front(3));
  llvm::append_range(operands, getForms(loop.getInitArgs(), batched, batch));
  rebuild(op, operands, batched, batch);
  return success();
}

static LogicalResult batchWhile(Operation *op, BlockBatch &batch) {
  auto loop = cast<scf::WhileOp>(op);
  Block &before = *loop.getBeforeBody(), &after = *loop.getAfterBody();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> carried(before.getArguments()),
      passed(after.getArguments());
  llvm::SmallBitVector carriedBatched(carried.size()),
      passedBatched(passed.size());
  LoopDependence dependence(batch);
  dependence.forward(loop.getInits(), carried, carriedBatched);
  do {
    dependence.propagate(before);
    dependence.forward(condition.getArgs(), passed, passedBatched);
    dependence.propagate(after);
  } while (dependence.forward(after.getTerminator()->getOperands(), carried,
                              carriedBatched));
  if (dependence.depends(condition.getCondition()))
    return batchByLoop(op, batch);

  for (unsigned number : carriedBatched.set_bits())
    batch.batchArgument(cast<BlockArgument>(carried[number]));
  for (unsigned number : passedBatched.set_bits())
    batch.batchArgument(cast<BlockArgument>(passed[number]));
  if (failed(batch.run(before)) || failed(batch.run(after)))
    return failure();
  batchOperands(condition.getArgsMutable(), passedBatched, batch);
  batchOperands(MutableOperandRange(after.getTerminator()), carriedBatched,
                batch);
  rebuild(op, getForms(loop.getInits(), carriedBatched, batch), passedBatched,
          batch);
  return success();
}

/// A call that is left is that of a function with a custom rule, which its
/// batched form has as well.
static LogicalResult batchCall(Operation *op, BlockBatch &batch) {
  auto call = cast<func::CallOp>(op);
  SmallVector<Value> operands;
  SmallVector<int64_t> batched;
  for (auto [number, operand] : llvm::enumerate(call.getOperands())) {
    operands.push_back(batch.getFormOrSelf(operand));
    if (batch.isBatched(operand))
      batched.push_back(number);
  }
  SmallVector<Type> types =
      llvm::map_to_vector(call.getResultTypes(),
                          [&](Type type) { return batch.getFormType(type); });
  batch.replace(op, VmapOp::create(batch.builder(), op->getLoc(), types,
                                   call.getCallee(), operands, batched,
                                   batch.getSize())
                        .getResults());
  return success();
}

void mlir::grad::addControlFlowBatchRules(BatchRules &rules) {
  rules.add<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, CheckpointOp>(
      batchRegions);
  rules.add<func::CallOp>(batchCall);
  rules.add<scf::ForOp>(batchFor);
  rules.add<scf::WhileOp>(batchWhile);
}

//===- BatchRules.cpp - How ops are batched -------------------------------===//

#include "Batch/BatchRules.h"

#include "GradScheduleOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::grad;

/// The same op on batched forms.
static LogicalResult batchIdentity(Operation *op, BlockBatch &batch) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(batch.getForm(operand));
  Operation *copy = batch.builder().create(
      op->getLoc(), op->getName().getIdentifier(), operands,
      batch.getFormType(op->getResult(0).getType()), op->getAttrs());
  batch.replace(op, copy->getResults());
  return success();
}

/// What is alike for all rows stays so, whatever it waits for.
static LogicalResult batchAfter(Operation *op, BlockBatch &batch) {
  auto after = cast<AfterOp>(op);
  Value input = batch.getFormOrSelf(after.getInput());
  SmallVector<Value> awaited;
  for (Value value : after.getAwaited())
    awaited.push_back(batch.getFormOrSelf(value));
  auto copy = AfterOp::create(batch.builder(), op->getLoc(), input.getType(),
                              input, awaited);
  if (batch.isBatched(after.getInput()))
    batch.replace(op, copy->getResults());
  else
    batch.replaceUnbatched(op, copy->getResults());
  return success();
}

BatchRules::BatchRules() {
  add<StopGradientOp, ValueOfOp, LeafOp, PromoteOp>(batchIdentity);
  add<AfterOp>(batchAfter);
  addElementBatchRules(*this);
  addTensorBatchRules(*this);
  addStructuredBatchRules(*this);
  addControlFlowBatchRules(*this);
}

BatchRule BatchRules::lookup(Operation *op) const {
  if (BatchRule rule = rules.lookup(op->getName().getTypeID()))
    return rule;
  if (isa<linalg::LinalgOp>(op))
    return batchLinalg;
  if (isElementwise(op))
    return batchElementwise;
  return batchByLoop;
}

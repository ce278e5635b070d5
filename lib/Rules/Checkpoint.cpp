//===- Checkpoint.cpp - Checkpoint regions and their policies -------------===//

#include "Rules/Checkpoint.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::grad;

/// The attribute with the number of results that a policy added.
static constexpr llvm::StringLiteral kSavedAttr = "grad.saved_results";

unsigned mlir::grad::getNumSaved(CheckpointOp op) {
  auto number = op->getAttrOfType<IntegerAttr>(kSavedAttr);
  return number ? number.getInt() : 0;
}

static void dissolve(CheckpointOp op) {
  IRRewriter rewriter(op.getContext());
  Block *body = &op.getBody().front();
  Operation *yield = body->getTerminator();
  rewriter.inlineBlockBefore(body, op);
  rewriter.replaceOp(op, yield->getOperands());
  rewriter.eraseOp(yield);
}

/// Adds the values that `"dots"` saves to the results of `op`.
static void saveDots(CheckpointOp op) {
  SmallVector<Value> saved;
  for (Operation &inner : op.getBody().front()) {
    // What an inner checkpoint saves is a dot.
    if (auto nested = dyn_cast<CheckpointOp>(inner))
      llvm::append_range(saved,
                         nested.getResults().take_back(getNumSaved(nested)));
    auto linalgOp = dyn_cast<linalg::LinalgOp>(inner);
    if (linalgOp && (linalg::isaContractionOpInterface(linalgOp) ||
                     linalg::isaConvolutionOpInterface(linalgOp)))
      llvm::append_range(saved, inner.getResults());
  }
  Operation *yield = op.getBody().front().getTerminator();
  yield->insertOperands(yield->getNumOperands(), saved);
  OpBuilder builder(op);
  auto wider = CheckpointOp::create(
      builder, op.getLoc(), yield->getOperandTypes(), op.getPolicyAttr());
  wider.getBody().takeBody(op.getBody());
  wider->setAttr(kSavedAttr, builder.getI64IntegerAttr(saved.size()));
  op.replaceAllUsesWith(wider.getResults().take_front(op.getNumResults()));
  op.erase();
}

LogicalResult mlir::grad::applyCheckpointPolicies(Operation *root) {
  SmallVector<CheckpointOp> ops;
  root->walk([&](CheckpointOp op) { ops.push_back(op); });
  for (CheckpointOp op : ops) {
    if (op.getPolicy() == "nothing" || op->hasAttr(kSavedAttr))
      continue;
    if (op.getPolicy() == "everything")
      dissolve(op);
    else if (op.getPolicy() == "dots")
      saveDots(op);
    else
      return op.emitOpError("has the unknown policy '")
             << op.getPolicy()
             << "'; there are 'nothing', 'dots' and 'everything'";
  }
  return success();
}

void mlir::grad::dissolveCheckpoints(Operation *root) {
  SmallVector<CheckpointOp> ops;
  root->walk([&](CheckpointOp op) { ops.push_back(op); });
  llvm::for_each(ops, dissolve);
}

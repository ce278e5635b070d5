//===- Activity.cpp - What depends on a value in a scalar body ------------===//

#include "Rules/Activity.h"

#include "GradDialect.h"

using namespace mlir;
using namespace mlir::grad;

/// True when a value that control flow forwards to a result or a region
/// argument of `branch` is active and it is not: it is now.
static bool spreadThroughBranch(RegionBranchOpInterface branch,
                                llvm::DenseSet<Value> &active) {
  RegionBranchInverseSuccessorMapping sources;
  branch.getSuccessorInputOperandMapping(sources);
  bool changed = false;
  for (auto &[input, operands] : sources)
    if (isDifferentiableType(input.getType()) &&
        llvm::any_of(operands, [&](OpOperand *operand) {
          return active.contains(operand->get());
        }))
      changed |= active.insert(input).second;
  return changed;
}

/// The same for what `op` computes.
static bool spreadThroughOp(Operation *op, llvm::DenseSet<Value> &active) {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  bool changed = false;
  for (OpResult result : op->getResults()) {
    if (!isDifferentiableType(result.getType()))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      if (active.contains(operand.get()) &&
          (!differentiable || differentiable.carriesGradient(operand, result)))
        changed |= active.insert(result).second;
  }
  return changed;
}

/// The same for an op whose regions nothing is known of.
static bool spreadThroughRegions(Operation *op, llvm::DenseSet<Value> &active) {
  WalkResult reads = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(),
                        [&](Value value) { return active.contains(value); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  bool changed = false;
  if (reads.wasInterrupted())
    for (Value result : op->getResults())
      if (isDifferentiableType(result.getType()))
        changed |= active.insert(result).second;
  return changed;
}

void mlir::grad::spreadActivity(ArrayRef<Operation *> ops,
                                llvm::DenseSet<Value> &active) {
  // Loops carry values back to what has been visited.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *top : ops)
      top->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
          changed |= spreadThroughBranch(branch, active);
          return WalkResult::advance();
        }
        if (op->getNumRegions() != 0) {
          changed |= spreadThroughRegions(op, active);
          return WalkResult::skip();
        }
        changed |= spreadThroughOp(op, active);
        return WalkResult::advance();
      });
  }
}

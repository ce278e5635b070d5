//===- BlockJvp.cpp - Forward mode over a block ---------------------------===//

#include "Rules/BlockJvp.h"

#include "Rules/FindRule.h"

using namespace mlir;
using namespace mlir::grad;

/// True when `op`, or something in its regions, reads a value with a tangent.
static bool readsTangent(Operation *op, JvpBuilder &jvp) {
  auto hasTangent = [&](Value value) { return jvp.tangent(value) != nullptr; };
  WalkResult result = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), hasTangent)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult BlockJvp::run(ArrayRef<Operation *> ops) {
  OpBuilder::InsertionGuard guard(b);
  for (Operation *op : ops) {
    b.setInsertionPointAfter(op);
    if (!readsTangent(op, *this) ||
        llvm::none_of(op->getResultTypes(), isDifferentiableType))
      continue;
    DifferentiableOpInterface rule = findRule(op, explain);
    if (!rule || failed(rule.emitJvp(*this)))
      return failure();
  }
  return success();
}

//===- BlockVjp.cpp - Reverse mode over a block ---------------------------===//

#include "Rules/BlockVjp.h"

#include "Rules/FindRule.h"
#include "Rules/TensorUtils.h"

using namespace mlir;
using namespace mlir::grad;

LogicalResult BlockVjp::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return cotangents.contains(result);
        }))
      continue;
    DifferentiableOpInterface rule = findRule(op, explain);
    if (!rule || failed(rule.emitVjp(*this)))
      return failure();
  }
  return success();
}

void BlockVjp::accumulate(Value value, Value cotangent) {
  if (!cotangent || !needs(value))
    return;
  Value &slot = cotangents[value];
  if (!slot) {
    slot = cotangent;
    return;
  }
  slot = addInto(b, cotangent.getLoc(), slot, cotangent);
}

Value BlockVjp::takeCotangent(Value value) {
  Value taken = cotangents.lookup(value);
  cotangents.erase(value);
  return taken;
}

void BlockVjp::setCotangent(Value value, Value cotangent) {
  cotangents[value] = cotangent;
}

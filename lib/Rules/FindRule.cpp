//===- FindRule.cpp - The derivative of an op -----------------------------===//

#include "Rules/FindRule.h"

using namespace mlir;
using namespace mlir::grad;

DifferentiableOpInterface mlir::grad::findRule(
    Operation *op,
    const std::function<void(Operation *, Diagnostic &)> &explain) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule)
    (void)emitNoDerivativeRule(op, [&](Operation *op, Diagnostic &diag) {
      if (explain)
        explain(op, diag);
    });
  return rule;
}

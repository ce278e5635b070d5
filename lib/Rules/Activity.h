//===- Activity.h - What depends on a value in a scalar body ----*- C++ -*-===//

#ifndef GRADC_RULES_ACTIVITY_H
#define GRADC_RULES_ACTIVITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::grad {

/// Adds to `active` what depends differentiably on a value in it: results of
/// `ops`, which are in program order, and of the ops in their regions, and
/// arguments of those regions.
void spreadActivity(ArrayRef<Operation *> ops, llvm::DenseSet<Value> &active);

} // namespace mlir::grad

#endif // GRADC_RULES_ACTIVITY_H

//===- BranchDerivative.h - Derivatives of scf.if and the like --*- C++ -*-===//
//
// Of an op that runs one of its regions, the derivative is such an op on the
// same condition: only the side that was taken is differentiated. In reverse
// mode its regions compute what they need again and yield the cotangents of
// what they read.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_BRANCHDERIVATIVE_H
#define GRADC_RULES_BRANCHDERIVATIVE_H

#include "GradDialect.h"

namespace mlir::grad {

/// `op` is an `scf.if` with an else region or an `scf.index_switch`.
LogicalResult emitBranchVjp(Operation *op, VjpBuilder &vjp);
LogicalResult emitBranchJvp(Operation *op, JvpBuilder &jvp);

} // namespace mlir::grad

#endif // GRADC_RULES_BRANCHDERIVATIVE_H

//===- PruneInputs.h - Loop nests without what they do not read -*- C++ -*-===//

#ifndef GRADC_RULES_PRUNEINPUTS_H
#define GRADC_RULES_PRUNEINPUTS_H

#include "GradDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

/// Erases dead ops from the body and replaces `op` by one that has only the
/// inputs the body reads, and those that alone give a loop its extent.
linalg::GenericOp pruneInputs(OpBuilder &builder, linalg::GenericOp op);
ScatterAddOp pruneInputs(OpBuilder &builder, ScatterAddOp op);

/// Erases the ops of `block` whose results nobody reads.
void eraseDeadOps(Block &block);

} // namespace mlir::grad

#endif // GRADC_RULES_PRUNEINPUTS_H

//===- FusedGroup.h - A group of ops as one op ------------------*- C++ -*-===//

#ifndef GRADC_LOWER_CPU_FUSEDGROUP_H
#define GRADC_LOWER_CPU_FUSEDGROUP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

/// True when `operand` of `op` reads point by point what another generic
/// writes point by point.
bool isPointwise(linalg::GenericOp op, OpOperand *operand);

/// Replaces `members`, which are in program order and iterate over `domain`,
/// by one op with a result for each value that is used outside. Returns the
/// number of ops replaced, which is 0 where nothing is gained.
int64_t emitFusedGroup(ArrayRef<linalg::GenericOp> members,
                       ArrayRef<int64_t> domain);

} // namespace mlir::grad

#endif // GRADC_LOWER_CPU_FUSEDGROUP_H

//===- SplitBranches.h - Branches on both sides of a partition --*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_SPLITBRANCHES_H
#define GRADC_DIFFERENTIATE_SPLITBRANCHES_H

#include "mlir/IR/Block.h"

namespace mlir::grad {

/// Canonicalization puts a branch and its adjoint, which decide by the same
/// condition, into one `scf.if`. Makes two of each of them in `block` again:
/// what depends on `late` values, and what does not.
void splitBranches(Block &block, ValueRange late);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_SPLITBRANCHES_H

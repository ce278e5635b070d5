//===- LoopIndex.h - Iterations of scf.for as numbers -----------*- C++ -*-===//

#ifndef GRADC_RULES_LOOPINDEX_H
#define GRADC_RULES_LOOPINDEX_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::grad {

/// The number of iterations of `loop`, an index.
Value computeTripCount(OpBuilder &builder, scf::ForOp loop);

/// The induction variable of `loop` in iteration `number`, an index.
Value getInductionValue(OpBuilder &builder, scf::ForOp loop, Value number);

/// The number of the iteration that the body of `loop` is in, an index.
Value getIterationNumber(OpBuilder &builder, scf::ForOp loop);

} // namespace mlir::grad

#endif // GRADC_RULES_LOOPINDEX_H

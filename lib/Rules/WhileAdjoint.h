//===- WhileAdjoint.h - Adjoint of scf.while --------------------*- C++ -*-===//
//
// Once a while loop has run, the number of its iterations is known: it counts
// them. What it has computed is then the same as
//
//   for (count) { before; after }; before
//
// without the condition, and that has an adjoint.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_WHILEADJOINT_H
#define GRADC_RULES_WHILEADJOINT_H

#include "GradDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::grad {

LogicalResult emitWhileVjp(scf::WhileOp loop, VjpBuilder &vjp);

} // namespace mlir::grad

#endif // GRADC_RULES_WHILEADJOINT_H

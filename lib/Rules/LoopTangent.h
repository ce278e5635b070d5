//===- LoopTangent.h - Tangents of loops ------------------------*- C++ -*-===//
//
// The tangent of a loop is carried by the loop itself, beside the values.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_LOOPTANGENT_H
#define GRADC_RULES_LOOPTANGENT_H

#include "GradDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::grad {

LogicalResult emitForJvp(scf::ForOp loop, JvpBuilder &jvp);
LogicalResult emitWhileJvp(scf::WhileOp loop, JvpBuilder &jvp);

} // namespace mlir::grad

#endif // GRADC_RULES_LOOPTANGENT_H

//===- FindRule.h - The derivative of an op ---------------------*- C++ -*-===//

#ifndef GRADC_RULES_FINDRULE_H
#define GRADC_RULES_FINDRULE_H

#include "GradDialect.h"

namespace mlir::grad {

/// The derivative of `op`, or null after an error, to which `explain`, when
/// given, adds notes.
DifferentiableOpInterface
findRule(Operation *op,
         const std::function<void(Operation *, Diagnostic &)> &explain);

} // namespace mlir::grad

#endif // GRADC_RULES_FINDRULE_H

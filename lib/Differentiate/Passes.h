//===- Passes.h ------------------------------------------------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_PASSES_H
#define GRADC_DIFFERENTIATE_PASSES_H

#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::grad {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_PASSES_H

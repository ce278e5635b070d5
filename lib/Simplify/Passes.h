//===- Passes.h ------------------------------------------------*- C++ -*-===//

#ifndef GRADC_SIMPLIFY_PASSES_H
#define GRADC_SIMPLIFY_PASSES_H

#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::grad {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Simplify/Passes.h.inc"
} // namespace mlir::grad

#endif // GRADC_SIMPLIFY_PASSES_H

//===- Register.h - Everything of gradc, for a tool or a context -*- C++
//-*-===//

#ifndef GRADC_PIPELINES_REGISTER_H
#define GRADC_PIPELINES_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::grad {

/// Registers the dialect, the derivative rules and the interface models that
/// the pipelines need, on top of MLIR's own.
void registerAll(DialectRegistry &registry);

/// Registers the passes and pipelines under their flags.
void registerAllPasses();

} // namespace mlir::grad

#endif // GRADC_PIPELINES_REGISTER_H

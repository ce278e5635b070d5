//===- LowerRegions.h - no_grad and enable_grad regions ---------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_LOWERREGIONS_H
#define GRADC_DIFFERENTIATE_LOWERREGIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::grad {

/// Directs every call under `grad.no_grad` to a clone of its callee whose body
/// is a `grad.no_grad` region, so that the mode of an op is always visible in
/// its own function.
void specializeCallsUnderNoGrad(ModuleOp module);

/// Inlines every `grad.no_grad` and `grad.enable_grad` region of `module`; ops
/// that read stopped operands read them through `grad.stop_gradient` then.
void lowerGradRegions(ModuleOp module);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_LOWERREGIONS_H

//===- FormCheckpoints.h - Regions out of marks -----------------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_FORMCHECKPOINTS_H
#define GRADC_DIFFERENTIATE_FORMCHECKPOINTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::grad {

/// Makes a `grad.checkpoint` of the ops between `grad.enter_checkpoint` and
/// `grad.leave_checkpoint` of one id, in the function block of each function.
void formCheckpoints(ModuleOp module);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_FORMCHECKPOINTS_H

//===- TensorExpansions.h - Tensor ops as loop nests ------------*- C++ -*-===//

#ifndef GRADC_RULES_TENSOREXPANSIONS_H
#define GRADC_RULES_TENSOREXPANSIONS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::grad {

/// What a pad whose padding depends on the position stands for.
FailureOr<SmallVector<Value>> expandPad(OpBuilder &b, tensor::PadOp op);

} // namespace mlir::grad

#endif // GRADC_RULES_TENSOREXPANSIONS_H

//===- ResidualCut.h - Save or recompute ------------------------*- C++ -*-===//
//
// Which values a forward function hands to its backward function, so that
// bytes saved and work done twice cost least together.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_DIFFERENTIATE_RESIDUALCUT_H
#define GRADC_DIFFERENTIATE_RESIDUALCUT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::grad {

/// Argument attribute of a value that lives no longer than the call unless it
/// is a residual.
inline constexpr llvm::StringLiteral kTemporaryArg = "grad.temporary";

/// A block whose ops are early (independent of the cotangents) or late.
struct ResidualProblem {
  Block &block;
  /// Values that can be there before the cotangents.
  llvm::function_ref<bool(Value)> isEarly;
  /// Early ops that run forward in any case.
  llvm::function_ref<bool(Operation *)> runsForward;
  /// Early values that are results of the forward function in any case.
  llvm::function_ref<bool(Value)> isReturned;
  /// Arguments that stay alive anyhow.
  llvm::function_ref<bool(BlockArgument)> isKept;
  /// What the backward function returns.
  ArrayRef<Value> gradients;
};

/// Operands of `op` and values from outside that its regions read.
SmallVector<Value> getReadValues(Operation *op);

/// True when computing the op again is as cheap as reading its result: such
/// values are never saved.
bool isFree(Operation *op);

/// The type of the tensor in which a value of `type` is handed over, or null
/// when none holds it.
RankedTensorType getResidualType(Type type);

/// The values to save. The backward function can compute every other early
/// value that it reads from them.
llvm::DenseSet<Value> chooseResiduals(const ResidualProblem &problem);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_RESIDUALCUT_H

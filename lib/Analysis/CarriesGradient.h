//===- CarriesGradient.h - Which ops pass a gradient on ---------*- C++ -*-===//
//
// The definition that every analysis and check of requires_grad shares:
//
// (1) A value of an integer, index or other non-differentiable type never
//     requires a gradient.
// (2) A gradient flows from an operand to a result of one op when both have
//     differentiable types and the op's derivative says that it does; an op
//     that says nothing is assumed to carry.
// (3) An op under `grad.no_grad` reads stopped operands. It does not matter to
//     values that control flow merely forwards, to calls, whose callee has a
//     mode of its own, and to the ops that are about gradients themselves.
// (4) An op with regions has known dataflow when it is a structured op or when
//     control flow forwards something to each of its results. Else anything it
//     reads may reach any value that it defines.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_CARRIESGRADIENT_H
#define GRADC_ANALYSIS_CARRIESGRADIENT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::grad {

/// (1) and (2), for one op without regard to its surroundings.
bool carriesGradient(OpOperand &operand, OpResult result);

/// True when the innermost grad mode around `op` is `grad.no_grad`.
bool isUnderNoGrad(Operation *op);

/// (3): true when `op` reads its operands, and what its body captures, without
/// their gradient.
bool readsStoppedOperands(Operation *op);

/// (4): true when the dataflow of an op with regions is not known.
bool hasUnknownDataflow(Operation *op);

/// Operands of `op` and the values that its regions read from above it.
llvm::SetVector<Value> getInputsOfRegionOp(Operation *op);

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_CARRIESGRADIENT_H

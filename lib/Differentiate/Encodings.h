//===- Encodings.h - Writing and erasing requires_grad types ----*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_ENCODINGS_H
#define GRADC_DIFFERENTIATE_ENCODINGS_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::grad {

/// Removes `#grad.requires_grad` from every type in `root`, in place: values,
/// signatures and attributes. What only converted between types goes with it:
/// `grad.promote`, and `tensor.cast` from a type to itself.
void eraseEncodings(Operation *root);

/// Turns the elementwise ops on tensors of which some but not all require a
/// gradient, which have no types to be written with, into `linalg.generic`.
/// Returns true if there were any.
bool convertMixedElementwise(FunctionOpInterface function,
                             llvm::function_ref<bool(Value)> requiresGrad);

/// Makes the type of `operand` carry or not, by way of `grad.promote` or
/// `grad.stop_gradient`. Does nothing for types that cannot carry.
void convertOperand(OpOperand &operand, bool requiresGrad);

/// Writes the encoding into the types of `function`, whose types are plain, and
/// its signature: a value has it when `requiresGrad` says so. Where an op wants
/// equal types for values that differ, inserts `grad.promote` for a constant
/// and `grad.stop_gradient` for an operand that the op reads without its
/// gradient. The function verifies afterwards if it did before, and if every
/// call is directed at a callee with fitting types.
void writeEncodings(FunctionOpInterface function,
                    llvm::function_ref<bool(Value)> requiresGrad);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_ENCODINGS_H

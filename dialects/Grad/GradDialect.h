//===- GradDialect.h - The grad dialect -------------------------*- C++ -*-===//

#ifndef GRAD_DIALECT_GRADDIALECT_H
#define GRAD_DIALECT_GRADDIALECT_H

#include "GradInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "GradDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "GradAttrs.h.inc"

#define GET_OP_CLASSES
#include "GradOps.h.inc"

namespace mlir::grad {

/// Argument attribute that makes a function argument a root of inference.
inline constexpr llvm::StringLiteral kRequiresGradArg = "grad.requires_grad";
/// Argument attribute with the name used for the argument in messages.
inline constexpr llvm::StringLiteral kNameArg = "grad.name";

/// True for types whose values can have a gradient: floating-point and complex
/// scalars, and tensors and vectors of them.
bool isDifferentiableType(Type type);

/// True when `type` is a tensor with the encoding `#grad.requires_grad`.
bool hasRequiresGrad(Type type);

/// True for types that can say whether they carry a gradient: differentiable
/// ranked tensors without an encoding of another dialect.
bool canHaveRequiresGrad(Type type);

/// `type` with or without the encoding. Types that cannot have it come back
/// unchanged; the encoding is removed from any ranked tensor that has it.
Type withRequiresGrad(Type type, bool requiresGrad);

/// True when the types differ in `#grad.requires_grad` at most.
bool isSameButGradient(Type a, Type b);

} // namespace mlir::grad

#endif // GRAD_DIALECT_GRADDIALECT_H

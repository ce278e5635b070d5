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
/// scalars, and tensors of them.
bool isDifferentiableType(Type type);

/// True when `type` is a tensor with the encoding `#grad.requires_grad`.
bool hasRequiresGrad(Type type);

/// `type` with or without the encoding. Types other than differentiable ranked
/// tensors come back unchanged.
Type withRequiresGrad(Type type, bool requiresGrad);

} // namespace mlir::grad

#endif // GRAD_DIALECT_GRADDIALECT_H

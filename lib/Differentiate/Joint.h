//===- Joint.h - Attributes of joint functions ------------------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_JOINT_H
#define GRADC_DIFFERENTIATE_JOINT_H

#include "mlir/IR/Operation.h"

namespace mlir::grad {

/// Numbers of the results of the function that have a cotangent.
inline constexpr llvm::StringLiteral kCotangentsAttr = "grad.cotangents";
/// Numbers of the arguments of the function that get a gradient.
inline constexpr llvm::StringLiteral kGradientsAttr = "grad.gradients";
/// Where each residual argument of a backward function comes from.
inline constexpr llvm::StringLiteral kResidualsAttr = "grad.residuals";

/// Refuses to give a function made from `op` a name that another one has:
/// callers find these functions by name.
LogicalResult checkNameIsFree(Operation *op, StringRef name);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_JOINT_H

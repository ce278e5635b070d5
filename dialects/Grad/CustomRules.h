//===- CustomRules.h - Functions that bring their derivative ----*- C++ -*-===//
//
// The derivative of a function is that of its body, unless attributes name
// functions that compute it. docs/custom-rules.md describes them.
//
//===----------------------------------------------------------------------===//

#ifndef GRAD_DIALECT_CUSTOMRULES_H
#define GRAD_DIALECT_CUSTOMRULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::grad {

/// Function attribute: the function that pushes tangents forward.
inline constexpr llvm::StringLiteral kCustomJvpAttr = "grad.custom_jvp";
/// Function attribute: the functions that compute the results with residuals,
/// and from these and cotangents the gradients.
inline constexpr llvm::StringLiteral kCustomVjpAttr = "grad.custom_vjp";
/// Argument attribute of a function with a rule: what the rule returns for this
/// argument stands for no gradient at all.
inline constexpr llvm::StringLiteral kNoGradientArg = "grad.no_gradient";

/// The functions that such an attribute names; null where there is none.
struct CustomRule {
  FlatSymbolRefAttr jvp, forward, backward;

  explicit CustomRule(Operation *function);
  explicit operator bool() const { return jvp || backward; }
  /// Takes the attributes off `function`.
  static void remove(Operation *function);
};

/// Verifies one of the two attributes.
LogicalResult verifyCustomRule(Operation *op, NamedAttribute attribute);

} // namespace mlir::grad

#endif // GRAD_DIALECT_CUSTOMRULES_H

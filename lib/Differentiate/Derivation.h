//===- Derivation.h - The derivative of one function ------------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_DERIVATION_H
#define GRADC_DIFFERENTIATE_DERIVATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::grad {

/// Makes `func`, which calls nothing but custom rules, take a cotangent for
/// each result that has one, and return the gradients of the arguments `wrt`
/// behind its results. Returns the number of ops that rules created.
FailureOr<int64_t> buildVjp(func::FuncOp func, ArrayRef<int64_t> wrt);

/// The same with a tangent for each of the arguments `wrt`, and the tangents of
/// the results.
FailureOr<int64_t> buildJvp(func::FuncOp func, ArrayRef<int64_t> wrt);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_DERIVATION_H

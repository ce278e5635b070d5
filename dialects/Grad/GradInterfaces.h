//===- GradInterfaces.h - What a derivative rule sees -----------*- C++ -*-===//
//
// The two builders are what a rule is written against. lib/Differentiate
// implements them; a rule knows nothing else of the transform that runs it.
//
//===----------------------------------------------------------------------===//

#ifndef GRAD_DIALECT_GRADINTERFACES_H
#define GRAD_DIALECT_GRADINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace mlir::grad {

/// Reverse mode, seen from the rule of one op. Operands and results of the op
/// are primal values and may be used directly in the emitted code.
class VjpBuilder {
public:
  virtual ~VjpBuilder() = default;

  /// The builder to emit with; its location is set to the op's.
  virtual OpBuilder &builder() = 0;

  /// The cotangent accumulated so far for `value`, or null for a symbolic
  /// zero.
  virtual Value cotangent(Value value) = 0;

  /// True when `value` requires a gradient and the gradient is used.
  virtual bool needs(Value value) = 0;

  /// Adds `cotangent`, of the type of `value`, to the cotangent of `value`.
  /// Does nothing when the value does not need one or `cotangent` is null.
  virtual void accumulate(Value value, Value cotangent) = 0;

  /// Takes the cotangent of `value` out, as a destination to accumulate into:
  /// what has been accumulated so far, or null. The caller follows with
  /// `setCotangent`.
  virtual Value takeCotangent(Value value) = 0;
  virtual void setCotangent(Value value, Value cotangent) = 0;
};

/// Forward mode, seen from the rule of one op.
class JvpBuilder {
public:
  virtual ~JvpBuilder() = default;
  virtual OpBuilder &builder() = 0;
  /// The tangent of `value`, or null for a symbolic zero.
  virtual Value tangent(Value value) = 0;
  /// True when the tangent of `value` is used.
  virtual bool needs(Value value) = 0;
  virtual void setTangent(Value value, Value tangent) = 0;
};

/// The error about an op that a gradient has to pass through and that has no
/// derivative. `explain`, when given, adds notes about how it gets there.
LogicalResult emitNoDerivativeRule(
    Operation *op, llvm::function_ref<void(Operation *, Diagnostic &)> explain);

} // namespace mlir::grad

#include "GradInterfaces.h.inc"

#endif // GRAD_DIALECT_GRADINTERFACES_H

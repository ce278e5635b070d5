//===- GenericAdjoint.h - Adjoint of a structured op ------------*- C++ -*-===//
//
// A structured op computes out[m_o(i)] from in_k[m_k(i)] for each point i of
// a loop nest. Its adjoint by operand k is a loop nest over the same points
// that adds (d body / d in_k) * ct[m_o(i)] to position m_k(i): the scalar body
// is differentiated by the rules of its ops and the indexing maps change
// roles. Loops that m_k does not use become reductions.
//
// Start reading at GenericAdjoint::emit.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_GENERICADJOINT_H
#define GRADC_RULES_GENERICADJOINT_H

#include "GradDialect.h"
#include "Rules/StructuredDerivative.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::grad {

class GenericAdjoint : StructuredDerivative {
public:
  GenericAdjoint(linalg::LinalgOp op, VjpBuilder &vjp)
      : StructuredDerivative(op, vjp.builder()), vjp(vjp) {}

  /// Emits the adjoint of every operand, captured scalar and gathered tensor
  /// that needs one.
  LogicalResult emit();

private:
  LogicalResult collectOutputs();
  LogicalResult emitOperand(OpOperand &operand);
  /// Adjoint of a float scalar that the whole nest reads; `target` is what
  /// stands for it in the body.
  LogicalResult emitScalar(Value scalar, Value target);
  LogicalResult emitGather(tensor::ExtractOp gather);

  /// Clones the body and differentiates it by `target`, a value of the body
  /// of the op. Returns the cotangent of the target at one point, null when
  /// it is identically zero; `mapping` maps the op's body to the clone.
  FailureOr<Value> buildBody(OpBuilder &body, ValueRange args, Value target,
                             IRMapping &mapping);

  /// A loop nest over the points of the op that computes the cotangent of
  /// `target`, accumulated at `map` into a tensor of `sizes` and `element`s, on
  /// top of `accumulated` if given.
  FailureOr<Value> emitLoopNest(Value target, ArrayRef<OpFoldResult> sizes,
                                Type element, AffineMap map, Value accumulated);

  VjpBuilder &vjp;
};

} // namespace mlir::grad

#endif // GRADC_RULES_GENERICADJOINT_H

//===- GenericTangent.h - Tangent of a structured op ------------*- C++ -*-===//
//
// The tangent of out[m_o(i)] = body(in_k[m_k(i)]) is a loop nest over the same
// points whose body computes the tangent of the body of the op from the
// elements of the operands and of their tangents. Sums add up tangents; an
// extremum averages, a pick selects them.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_GENERICTANGENT_H
#define GRADC_RULES_GENERICTANGENT_H

#include "GradDialect.h"
#include "Rules/StructuredDerivative.h"

namespace mlir::grad {

class GenericTangent : StructuredDerivative {
public:
  GenericTangent(linalg::LinalgOp op, JvpBuilder &jvp)
      : StructuredDerivative(op, jvp.builder()), jvp(jvp) {}

  /// Sets the tangent of every result that has one.
  LogicalResult emit();

private:
  LogicalResult emitResult(const Output &output);

  JvpBuilder &jvp;
  /// The tangents of the operands and which operand each belongs to.
  SmallVector<Input> tangents;
  SmallVector<unsigned> tangentOperands;
};

} // namespace mlir::grad

#endif // GRADC_RULES_GENERICTANGENT_H

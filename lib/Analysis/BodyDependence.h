//===- BodyDependence.h - What a structured op's results are made of
//-------===//
//
// A structured op computes each element of its results with a scalar body:
// linalg ops, grad.scatter_add, tensor.generate and tensor.pad. Which operands
// reach a result differentiably is a question about that body: the init of a
// `linalg.fill` does not, the init of a `linalg.matmul` does.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_BODYDEPENDENCE_H
#define GRADC_ANALYSIS_BODYDEPENDENCE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::grad {

/// The scalar body of a structured op, or null for any other op.
Block *getScalarBody(Operation *op);

/// The argument of the body that holds an element of `operand`, or null.
Value getBodyArgument(OpOperand &operand);

/// The value in the body that becomes an element of `result`.
Value getYieldedValue(OpResult result);

/// True when elements of `operand` become elements of the result without
/// passing through the body: the init of a scatter_add, the source of a pad.
bool bypassesBody(OpOperand &operand);

/// What one result of a structured op depends on differentiably.
struct BodyDependence {
  /// Operands of the op, by number; inputs and inits alike.
  llvm::SmallBitVector operands;
  /// Values defined above the op that its body reads.
  llvm::SmallSetVector<Value, 4> captures;
};

/// Follows `result` of a structured op back through the body. Linear in the
/// size of the body.
BodyDependence computeBodyDependence(OpResult result);

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_BODYDEPENDENCE_H

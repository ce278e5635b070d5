//===- StructuredDerivative.h - What both modes do to a body ----*- C++ -*-===//
//
// A structured op is differentiated through its scalar body. Reverse mode
// (GenericAdjoint) and forward mode (GenericTangent) both build loop nests over
// the points of the op whose bodies start as a clone of its body; this class
// is what they share.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_STRUCTUREDDERIVATIVE_H
#define GRADC_RULES_STRUCTUREDDERIVATIVE_H

#include "GradDialect.h"
#include "Rules/Reduction.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::grad {

class StructuredDerivative {
protected:
  StructuredDerivative(linalg::LinalgOp op, OpBuilder &builder)
      : op(op), b(builder), loc(op->getLoc()) {}

  /// A value that the body of a derivative reads, with the map that selects
  /// its element at a point of the loop nest.
  struct Input {
    Value value;
    AffineMap map;
  };
  /// A result of the op that takes part in the derivative.
  struct Output {
    unsigned number;
    Combination combination;
    /// Reverse mode: the cotangent of the result.
    Value cotangent;
    /// For an extremum: how many terms equal the result.
    Value count;
  };

  /// Classifies result `number` and adds it to `outputs`, or to `products`.
  LogicalResult addOutput(unsigned number, Value cotangent);

  AffineMap getOutputMap(unsigned number) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  }

  /// What every loop nest reads: the operands of the op, `extra`, then what the
  /// outputs need.
  std::pair<SmallVector<Value>, SmallVector<AffineMap>>
  getInputs(ArrayRef<Input> extra = {});

  /// Clones the body at the insertion point of `body`, the block arguments
  /// bound to the first of `args`. Returns the clones, in order.
  SmallVector<Operation *> cloneBody(OpBuilder &body, ValueRange args,
                                     IRMapping &mapping);

  /// The inputs of one output, as they are bound in a body.
  struct BoundOutput {
    Value cotangent, result, count, winner;
  };
  /// Takes the arguments of `output` off the front of `args`.
  BoundOutput bind(const Output &output, ValueRange &args);

  /// The share of `t`, a cotangent of the result or a tangent of the term,
  /// that the current point has in the result.
  Value weigh(OpBuilder &body, const Output &output, const BoundOutput &bound,
              const IRMapping &mapping, Value t);

  linalg::LinalgOp op;
  OpBuilder &b;
  Location loc;
  SmallVector<Output> outputs;
  /// The numbers of the results that are products.
  SmallVector<unsigned> products;

private:
  Value countTies(const Output &output);
};

} // namespace mlir::grad

#endif // GRADC_RULES_STRUCTUREDDERIVATIVE_H

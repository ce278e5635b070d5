//===- Reduction.h - How a structured op combines its points ----*- C++ -*-===//

#ifndef GRADC_RULES_REDUCTION_H
#define GRADC_RULES_REDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

/// How a result of a structured op comes about from the points of its loop
/// nest, as far as the derivative is concerned.
struct Combination {
  enum class Kind {
    /// Each element is written once: the yielded value.
    Write,
    /// out + term: every term has the derivative one.
    Sum,
    /// out * term: every term has the product of the others. The derivative is
    /// that of a tree of products, see ProductTree.h.
    Product,
    /// max(out, term) or min: the gradient is split evenly over the terms that
    /// equal the result.
    Extremum,
    /// An extremum with the position of the winner as a second result: the
    /// gradient goes to the winner.
    Pick
  };
  Kind kind = Kind::Write;
  /// The value in the body that receives the cotangent of the result.
  Value term;
  /// For a pick: the position of the current point (a value in the body) and
  /// the number of the result that holds the winner's.
  Value position;
  unsigned positionResult = 0;
};

/// True when no loop of `op` reduces.
bool isParallel(linalg::LinalgOp op);

/// The block argument with the old value of result `number`, or null when the
/// body has none.
Value getOutArgument(linalg::LinalgOp op, unsigned number);

/// Finds out how result `number` is combined; emits an error on the op for a
/// combination without a derivative rule.
FailureOr<Combination> classifyCombination(linalg::LinalgOp op,
                                           unsigned number);

} // namespace mlir::grad

#endif // GRADC_RULES_REDUCTION_H

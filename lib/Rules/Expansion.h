//===- Expansion.h - Ops that stand for other ops ---------------*- C++ -*-===//
//
// Some ops are short for others that have a rule: a softmax for a few loop
// nests, a parallel loop for sequential ones. Their derivative is that of the
// ops they stand for, in both modes and to any order, and so one entry says
// which those are:
//
//   // sincos(x) = sin(x), cos(x)
//   expansion<math::SincosOp>(context, [](OpBuilder &b, math::SincosOp op)
//       -> FailureOr<SmallVector<Value>> { ... });
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_EXPANSION_H
#define GRADC_RULES_EXPANSION_H

#include "GradDialect.h"

namespace mlir::grad {

/// Emits ops that compute what `op` computes and returns a value for each of
/// its results. On failure, emits an error on `op`.
template <typename OpTy>
using Expander = FailureOr<SmallVector<Value>> (*)(OpBuilder &b, OpTy op);

/// The ops that `build` creates at the insertion point of `b`, in order.
SmallVector<Operation *> collectCreated(OpBuilder &b,
                                        function_ref<void()> build);

/// Reverse mode over `ops`, which compute `values`, in place of an op with
/// `results`.
LogicalResult emitVjpOfOps(ArrayRef<Operation *> ops, ValueRange results,
                           ValueRange values, VjpBuilder &vjp);
/// Forward mode over the same.
LogicalResult emitJvpOfOps(ArrayRef<Operation *> ops, ValueRange results,
                           ValueRange values, JvpBuilder &jvp);

namespace detail {
using ExpandFn = function_ref<FailureOr<SmallVector<Value>>(OpBuilder &)>;
LogicalResult emitExpandedVjp(Operation *op, ExpandFn expand, VjpBuilder &vjp);
LogicalResult emitExpandedJvp(Operation *op, ExpandFn expand, JvpBuilder &jvp);

template <typename OpTy>
struct ExpansionModel
    : DifferentiableOpInterface::ExternalModel<ExpansionModel<OpTy>, OpTy> {
  static inline Expander<OpTy> expander;

  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return emitExpandedVjp(
        op, [&](OpBuilder &b) { return expander(b, cast<OpTy>(op)); }, vjp);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    return emitExpandedJvp(
        op, [&](OpBuilder &b) { return expander(b, cast<OpTy>(op)); }, jvp);
  }
};
} // namespace detail

/// Gives `OpTy` the derivative of what `expander` emits, which also takes its
/// place in the function.
template <typename OpTy>
void expansion(MLIRContext *context, Expander<OpTy> expander) {
  detail::ExpansionModel<OpTy>::expander = expander;
  OpTy::template attachInterface<detail::ExpansionModel<OpTy>>(*context);
}

} // namespace mlir::grad

#endif // GRADC_RULES_EXPANSION_H

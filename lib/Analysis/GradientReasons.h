//===- GradientReasons.h - Why a value needs a gradient ---------*- C++ -*-===//
//
// GradientAnalysis says what requires a gradient; this class finds out why, for
// people. It goes along the edges that the analysis went along, and never
// contradicts it.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_GRADIENTREASONS_H
#define GRADC_ANALYSIS_GRADIENTREASONS_H

#include "Analysis/GradientAnalysis.h"

namespace mlir::grad {

struct GradientReason {
  enum Kind {
    /// It is a root, or a `grad.leaf`.
    Root,
    /// It depends on `root`, along `path`.
    Depends,
    /// Its type has no gradient.
    NoGradientType,
    /// It would depend on a root if `barrier` let the gradient pass.
    Stopped,
    /// Nothing that requires a gradient has anything to do with it.
    Constant,
  };
  Kind kind;
  Value root;
  /// A shortest way from the root to the value: the ops passed, in order, the
  /// one that defines the value included.
  SmallVector<Operation *> path;
  /// The nearest op that stops the gradient.
  Operation *barrier = nullptr;
};

/// Reasons for the values of one function, but for those inside scalar bodies:
/// a structured op is taken whole.
class GradientReasons {
public:
  /// `analysis` is that of `function` for `roots` and `calls`, all of which
  /// have to live as long as this object.
  GradientReasons(FunctionOpInterface function, ArrayRef<Value> roots,
                  const GradientAnalysis &analysis, const CallModel &calls);

  GradientReason explain(Value value) const;

  /// All roots that `value` depends on.
  SmallVector<Value> getRoots(Value value) const;

  /// The roots from which a gradient path ends at `op`; empty for anything but
  /// a barrier.
  SmallVector<Value> getCutRoots(Operation *op) const;

private:
  /// A value that another is computed from.
  struct Source {
    Value value;
    /// The gradient passes.
    bool passes;
  };
  SmallVector<Source> getSources(Value value) const;
  void addForwarded(Value value, SmallVectorImpl<Source> &sources) const;
  void addInputs(Operation *op, SmallVectorImpl<Source> &sources) const;
  void addCallOperands(CallOpInterface call, unsigned result,
                       SmallVectorImpl<Source> &sources) const;
  void addStructured(OpResult result, SmallVectorImpl<Source> &sources) const;
  void follow(FunctionOpInterface function);
  SmallVector<Value> select(const llvm::BitVector &numbers) const;

  ArrayRef<Value> roots;
  const GradientAnalysis &analysis;
  const CallModel &calls;
  /// The next value on a shortest way to a root; null for a root.
  llvm::DenseMap<Value, Value> causes;
  /// Numbers of the roots that the value depends on.
  llvm::DenseMap<Value, llvm::BitVector> rootNumbers;
  /// The nearest op that keeps the gradient from the value.
  llvm::DenseMap<Value, Operation *> barriers;
};

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_GRADIENTREASONS_H

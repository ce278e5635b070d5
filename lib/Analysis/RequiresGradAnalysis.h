//===- RequiresGradAnalysis.h - Values that depend on a root ----*- C++ -*-===//
//
// Forward sparse dataflow. See the definition in RequiresGradAnalysis.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_REQUIRESGRADANALYSIS_H
#define GRADC_ANALYSIS_REQUIRESGRADANALYSIS_H

#include "Analysis/GradientAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"

namespace mlir::grad {

/// One bit a value that only ever goes from false to true.
class FlagLattice : public dataflow::AbstractSparseLattice {
public:
  using AbstractSparseLattice::AbstractSparseLattice;

  bool isSet() const { return flag; }
  ChangeResult set(bool value) {
    if (!value || flag)
      return ChangeResult::NoChange;
    flag = true;
    return ChangeResult::Change;
  }
  ChangeResult join(const AbstractSparseLattice &other) override {
    return set(static_cast<const FlagLattice &>(other).flag);
  }
  ChangeResult meet(const AbstractSparseLattice &other) override {
    return join(other);
  }
  void print(raw_ostream &os) const override { os << (flag ? "yes" : "no"); }

private:
  bool flag = false;
};

class RequiresGradLattice : public FlagLattice {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RequiresGradLattice)
  using FlagLattice::FlagLattice;
};

class RequiresGradAnalysis
    : public dataflow::SparseForwardDataFlowAnalysis<RequiresGradLattice> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RequiresGradAnalysis)

  RequiresGradAnalysis(DataFlowSolver &solver, ArrayRef<Value> roots,
                       const CallModel &calls)
      : SparseForwardDataFlowAnalysis(solver), roots(roots), calls(calls) {}

  LogicalResult initialize(Operation *top) override;
  LogicalResult
  visitOperation(Operation *op, ArrayRef<const RequiresGradLattice *> operands,
                 ArrayRef<RequiresGradLattice *> results) override;
  void visitExternalCall(CallOpInterface call,
                         ArrayRef<const RequiresGradLattice *> operands,
                         ArrayRef<RequiresGradLattice *> results) override;
  void visitNonControlFlowArguments(Operation *op,
                                    const RegionSuccessor &successor,
                                    ArrayRef<RequiresGradLattice *> arguments,
                                    unsigned firstIndex) override;
  void setToEntryState(RequiresGradLattice *lattice) override;

private:
  /// Arguments and results of a region op with unknown dataflow.
  void visitOpaqueValues(RegionBranchOpInterface branch);
  /// Marks `lattice` if any input of `op` requires a gradient.
  void markOpaque(RequiresGradLattice *lattice, Operation *op,
                  ProgramPoint *point);
  void mark(RequiresGradLattice *lattice, bool requiresGrad = true);

  ArrayRef<Value> roots;
  const CallModel &calls;
};

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_REQUIRESGRADANALYSIS_H

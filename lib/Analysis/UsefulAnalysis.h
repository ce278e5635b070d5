//===- UsefulAnalysis.h - Values that reach an output -----------*- C++ -*-===//
//
// Backward sparse dataflow. See the definition in UsefulAnalysis.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_USEFULANALYSIS_H
#define GRADC_ANALYSIS_USEFULANALYSIS_H

#include "Analysis/RequiresGradAnalysis.h"

namespace mlir::grad {

class UsefulLattice : public FlagLattice {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UsefulLattice)
  using FlagLattice::FlagLattice;
};

class UsefulAnalysis
    : public dataflow::SparseBackwardDataFlowAnalysis<UsefulLattice> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UsefulAnalysis)

  UsefulAnalysis(DataFlowSolver &solver, SymbolTableCollection &symbolTable,
                 ArrayRef<Value> outputs, const CallModel &calls)
      : SparseBackwardDataFlowAnalysis(solver, symbolTable), outputs(outputs),
        calls(calls) {}

  LogicalResult initialize(Operation *top) override;
  LogicalResult
  visitOperation(Operation *op, ArrayRef<UsefulLattice *> operands,
                 ArrayRef<const UsefulLattice *> results) override;
  void visitExternalCall(CallOpInterface call,
                         ArrayRef<UsefulLattice *> operands,
                         ArrayRef<const UsefulLattice *> results) override;
  void visitBranchOperand(OpOperand &operand) override;
  void visitCallOperand(OpOperand &operand) override;
  void visitNonControlFlowArguments(RegionSuccessor &,
                                    ArrayRef<BlockArgument>) override {}
  void setToExitState(UsefulLattice *) override {}

private:
  void mark(Value value, bool useful = true);
  bool isUseful(ProgramPoint *point, Value value);
  bool isAnyUseful(ProgramPoint *point, ValueRange values);

  ArrayRef<Value> outputs;
  const CallModel &calls;
};

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_USEFULANALYSIS_H

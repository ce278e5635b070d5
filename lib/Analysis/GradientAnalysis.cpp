//===- GradientAnalysis.cpp - Which values need a gradient ----------------===//

#include "Analysis/GradientAnalysis.h"

#include "Analysis/CarriesGradient.h"
#include "Analysis/RequiresGradAnalysis.h"
#include "Analysis/UsefulAnalysis.h"
#include "GradDialect.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"

using namespace mlir;
using namespace mlir::grad;

namespace {
/// Takes no value for a constant, so that dead code analysis finds every
/// branch alive. Types must not depend on what a folder happens to know: the
/// branch that is dead today has to type-check too.
class NoConstants : public DataFlowAnalysis {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NoConstants)
  using DataFlowAnalysis::DataFlowAnalysis;

  LogicalResult initialize(Operation *top) override {
    top->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            setUnknown(argument);
      for (Value result : op->getResults())
        setUnknown(result);
    });
    return success();
  }
  LogicalResult visit(ProgramPoint *) override { return success(); }

private:
  void setUnknown(Value value) {
    auto *lattice =
        getOrCreate<dataflow::Lattice<dataflow::ConstantValue>>(value);
    propagateIfChanged(
        lattice, lattice->join(dataflow::ConstantValue::getUnknownConstant()));
  }
};
} // namespace

/// True for memory that could hold a differentiable value.
static bool isDifferentiableMemory(Type type) {
  auto memoryType = dyn_cast<BaseMemRefType>(type);
  return memoryType && isDifferentiableType(memoryType.getElementType());
}

FailureOr<GradientAnalysis>
GradientAnalysis::compute(FunctionOpInterface function, ArrayRef<Value> roots,
                          ArrayRef<Value> outputs, const CallModel &calls) {
  GradientAnalysis analysis;
  if (function.isExternal())
    return analysis;

  DataFlowSolver solver(DataFlowConfig().setInterprocedural(false));
  SymbolTableCollection symbolTable;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<NoConstants>();
  solver.load<RequiresGradAnalysis>(roots, calls);
  solver.load<UsefulAnalysis>(symbolTable, outputs, calls);
  if (failed(solver.initializeAndRun(function)))
    return failure();

  auto record = [&](Value value) {
    auto *required = solver.lookupState<RequiresGradLattice>(value);
    if (required && required->isSet())
      analysis.required.insert(value);
    auto *useful = solver.lookupState<UsefulLattice>(value);
    if (useful && useful->isSet())
      analysis.useful.insert(value);
  };
  WalkResult result = function.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), record);
    llvm::for_each(op->getResults(), record);
    return WalkResult::advance();
  });
  result = function.walk([&](Operation *op) {
    if (readsStoppedOperands(op) || isa<StopGradientOp>(op) ||
        (!llvm::any_of(op->getOperandTypes(), isDifferentiableMemory) &&
         !llvm::any_of(op->getResultTypes(), isDifferentiableMemory)))
      return WalkResult::advance();
    for (Value operand : op->getOperands()) {
      if (!analysis.requiresGrad(operand))
        continue;
      op->emitOpError("moves a value that requires a gradient to memory, "
                      "where its gradient cannot be followed");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return analysis;
}

//===- CarriesGradient.cpp - Which ops pass a gradient on -----------------===//

#include "Analysis/CarriesGradient.h"

#include "Analysis/BodyDependence.h"
#include "GradDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

bool mlir::grad::carriesGradient(OpOperand &operand, OpResult result) {
  if (!isDifferentiableType(operand.get().getType()) ||
      !isDifferentiableType(result.getType()))
    return false;
  Operation *op = operand.getOwner();
  if (getScalarBody(op))
    return computeBodyDependence(result).operands.test(
        operand.getOperandNumber());
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(op))
    return differentiable.carriesGradient(operand, result);
  return true;
}

bool mlir::grad::isUnderNoGrad(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    if (isa<NoGradOp>(parent))
      return true;
    if (isa<EnableGradOp, CallableOpInterface>(parent))
      return false;
  }
  return false;
}

bool mlir::grad::readsStoppedOperands(Operation *op) {
  if (isa<StopGradientOp, ValueOfOp, LeafOp, PromoteOp, CallOpInterface,
          RegionBranchOpInterface, RegionBranchTerminatorOpInterface,
          BranchOpInterface>(op))
    return false;
  return isUnderNoGrad(op);
}

bool mlir::grad::hasUnknownDataflow(Operation *op) {
  if (op->getNumRegions() == 0 || getScalarBody(op) ||
      isa<CallableOpInterface>(op))
    return false;
  bool hasResults = llvm::any_of(op->getResultTypes(), isDifferentiableType);
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return hasResults || llvm::any_of(op->getRegions(), [](Region &region) {
             return llvm::any_of(region.getArgumentTypes(),
                                 isDifferentiableType);
           });
  if (!hasResults)
    return false;
  RegionBranchInverseSuccessorMapping mapping;
  branch.getSuccessorInputOperandMapping(mapping);
  return !llvm::all_of(op->getResults(),
                       [&](Value result) { return mapping.contains(result); });
}

llvm::SetVector<Value> mlir::grad::getInputsOfRegionOp(Operation *op) {
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs);
  return inputs;
}

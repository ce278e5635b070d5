//===- BodyDependence.cpp - What a structured op's results are made of ----===//

#include "Analysis/BodyDependence.h"

#include "Analysis/CarriesGradient.h"
#include "GradDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

Block *mlir::grad::getScalarBody(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getBlock();
  if (isa<ScatterAddOp, tensor::GenerateOp, tensor::PadOp>(op))
    return &op->getRegion(0).front();
  return nullptr;
}

Value mlir::grad::getBodyArgument(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getMatchingBlockArgument(&operand);
  auto scatter = dyn_cast<ScatterAddOp>(op);
  if (scatter && operand.getOperandNumber() < scatter.getInputs().size())
    return scatter.getBody().getArgument(operand.getOperandNumber());
  return {};
}

Value mlir::grad::getYieldedValue(OpResult result) {
  Operation *op = result.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    OpOperand *init = linalgOp.getTiedOpOperand(result);
    return linalgOp.getMatchingYieldValue(init)->get();
  }
  return getScalarBody(op)->getTerminator()->getOperands().back();
}

bool mlir::grad::bypassesBody(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return &operand == &scatter.getInitMutable();
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return &operand == &pad.getSourceMutable();
  return false;
}

BodyDependence mlir::grad::computeBodyDependence(OpResult result) {
  Operation *op = result.getOwner();
  Block *body = getScalarBody(op);
  BodyDependence dependence;
  dependence.operands.resize(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (bypassesBody(operand) && isDifferentiableType(operand.get().getType()))
      dependence.operands.set(operand.getOperandNumber());

  DenseMap<Value, unsigned> operandOfArgument;
  for (OpOperand &operand : op->getOpOperands())
    if (Value argument = getBodyArgument(operand))
      operandOfArgument[argument] = operand.getOperandNumber();

  DenseSet<Value> seen;
  SmallVector<Value> worklist = {getYieldedValue(result)};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!isDifferentiableType(value.getType()) || !seen.insert(value).second)
      continue;
    if (!op->isAncestor(value.getParentBlock()->getParentOp())) {
      dependence.captures.insert(value);
      continue;
    }
    if (auto it = operandOfArgument.find(value);
        it != operandOfArgument.end()) {
      dependence.operands.set(it->second);
      continue;
    }
    Operation *definition = value.getDefiningOp();
    if (!definition)
      continue;
    for (OpOperand &operand : definition->getOpOperands())
      if (carriesGradient(operand, cast<OpResult>(value)))
        worklist.push_back(operand.get());
    // Ops with regions of their own in a scalar body are taken whole.
    SetVector<Value> used;
    getUsedValuesDefinedAbove(definition->getRegions(), used);
    worklist.append(used.begin(), used.end());
  }
  return dependence;
}

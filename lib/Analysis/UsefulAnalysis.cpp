//===- UsefulAnalysis.cpp - Values that reach an output -------------------===//
//
// A value is useful when its type is differentiable and
//
// (1) it is an output; or
// (2) it is an operand of an op and reaches a useful result, in the sense of
//     CarriesGradient.h; or
// (3) it is an operand of a structured op and the argument of the scalar body
//     that holds its elements is useful, or it is what the body yields for a
//     useful result; or
// (4) control flow forwards it to a useful value; or
// (5) it is an operand of a call and the model of the call says so; or
// (6) it is read by an op with unknown dataflow, and a result of the op is
//     useful.
//
// (4) is the framework's.
//
//===----------------------------------------------------------------------===//

#include "Analysis/UsefulAnalysis.h"

#include "Analysis/BodyDependence.h"
#include "Analysis/CarriesGradient.h"
#include "GradDialect.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"

using namespace mlir;
using namespace mlir::grad;

void UsefulAnalysis::mark(Value value, bool useful) {
  if (!isDifferentiableType(value.getType()))
    return;
  UsefulLattice *lattice = getLatticeElement(value);
  propagateIfChanged(lattice, lattice->set(useful));
}

bool UsefulAnalysis::isUseful(ProgramPoint *point, Value value) {
  UsefulLattice *lattice = getLatticeElement(value);
  addDependency(lattice, point);
  return lattice->isSet();
}

bool UsefulAnalysis::isAnyUseful(ProgramPoint *point, ValueRange values) {
  bool useful = false;
  for (Value value : values)
    useful |= isUseful(point, value);
  return useful;
}

LogicalResult UsefulAnalysis::initialize(Operation *top) {
  // (1)
  for (Value output : outputs)
    mark(output);
  return SparseBackwardDataFlowAnalysis::initialize(top);
}

LogicalResult
UsefulAnalysis::visitOperation(Operation *op, ArrayRef<UsefulLattice *>,
                               ArrayRef<const UsefulLattice *> results) {
  ProgramPoint *point = getProgramPointAfter(op);
  Operation *parent = op->getParentOp();
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    // (3)
    if (getScalarBody(parent) && !readsStoppedOperands(parent))
      for (OpResult result : parent->getResults())
        mark(getYieldedValue(result), isUseful(point, result));
    return success();
  }
  if (isa<InParallelOpInterface>(parent)) {
    // (6)
    bool useful = isAnyUseful(point, parent->getParentOp()->getResults());
    for (Value operand : op->getOperands())
      mark(operand, useful);
    return success();
  }
  if (readsStoppedOperands(op))
    return success();
  if (hasUnknownDataflow(op)) {
    // (6)
    if (!isAnyUseful(point, op->getResults()))
      return success();
    for (Value input : getInputsOfRegionOp(op))
      mark(input);
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        mark(operand);
    });
    return success();
  }

  for (OpOperand &operand : op->getOpOperands()) {
    // (3)
    if (Value argument = getBodyArgument(operand))
      mark(operand.get(), isUseful(point, argument));
    // (2)
    for (auto [result, lattice] : llvm::zip_equal(op->getResults(), results)) {
      if (!lattice->isSet())
        continue;
      mark(operand.get(),
           getScalarBody(op)
               ? bypassesBody(operand)
               : carriesGradient(operand, cast<OpResult>(result)));
    }
  }
  return success();
}

void UsefulAnalysis::visitExternalCall(
    CallOpInterface call, ArrayRef<UsefulLattice *> operands,
    ArrayRef<const UsefulLattice *> results) {
  // (5)
  llvm::BitVector wanted(results.size());
  for (auto [index, result] : llvm::enumerate(results))
    wanted[index] = result->isSet();
  llvm::BitVector reaching(operands.size(),
                           wanted.any() && !isUnderNoGrad(call));
  if (calls.useful)
    reaching = calls.useful(call, wanted);
  for (unsigned index : reaching.set_bits())
    mark(call->getOperand(index));
}

void UsefulAnalysis::visitBranchOperand(OpOperand &operand) {
  // (6)
  Operation *op = operand.getOwner();
  ProgramPoint *point = getProgramPointAfter(op);
  if (op->hasTrait<OpTrait::IsTerminator>())
    op = op->getParentOp();
  mark(operand.get(), isAnyUseful(point, op->getResults()));
}

void UsefulAnalysis::visitCallOperand(OpOperand &operand) {
  Operation *op = operand.getOwner();
  mark(operand.get(), isAnyUseful(getProgramPointAfter(op), op->getResults()));
}

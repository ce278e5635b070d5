//===- RequiresGradAnalysis.cpp - Values that depend on a root ------------===//
//
// A value requires a gradient when its type is differentiable and
//
// (1) it is a root, or the result of `grad.leaf`; or
// (2) it is the result of an op and an operand that requires a gradient
//     reaches it, in the sense of CarriesGradient.h; or
// (3) it is an argument of a scalar body and the operand it is an element of
//     requires a gradient, or the result of a structured op and the value that
//     the body yields for it does; or
// (4) it is an argument of a region or block, or the result of a region op,
//     and a value that control flow forwards to it requires a gradient; or
// (5) it is the result of a call and the model of the call says so; or
// (6) it is a result or region argument of an op with unknown dataflow, and
//     anything the op reads requires a gradient.
//
// (4) is the framework's.
//
//===----------------------------------------------------------------------===//

#include "Analysis/RequiresGradAnalysis.h"

#include "Analysis/BodyDependence.h"
#include "Analysis/CarriesGradient.h"
#include "GradDialect.h"

using namespace mlir;
using namespace mlir::grad;

void RequiresGradAnalysis::mark(RequiresGradLattice *lattice,
                                bool requiresGrad) {
  if (isDifferentiableType(lattice->getAnchor().getType()))
    propagateIfChanged(lattice, lattice->set(requiresGrad));
}

LogicalResult RequiresGradAnalysis::initialize(Operation *top) {
  // (1)
  for (Value root : roots)
    mark(getLatticeElement(root));
  return SparseForwardDataFlowAnalysis::initialize(top);
}

LogicalResult RequiresGradAnalysis::visitOperation(
    Operation *op, ArrayRef<const RequiresGradLattice *> operands,
    ArrayRef<RequiresGradLattice *> results) {
  // (1)
  if (isa<LeafOp>(op))
    mark(results.front());
  if (readsStoppedOperands(op))
    return success();
  if (hasUnknownDataflow(op)) {
    setAllToEntryStates(results);
    return success();
  }

  bool isStructured = getScalarBody(op) != nullptr;
  for (auto [result, lattice] : llvm::zip_equal(op->getResults(), results)) {
    if (isStructured) {
      // (3)
      const RequiresGradLattice *yielded = getLatticeElementFor(
          getProgramPointAfter(op), getYieldedValue(cast<OpResult>(result)));
      mark(lattice, yielded->isSet());
    }
    // (2)
    for (OpOperand &operand : op->getOpOperands()) {
      if (!operands[operand.getOperandNumber()]->isSet())
        continue;
      mark(lattice, isStructured
                        ? bypassesBody(operand)
                        : carriesGradient(operand, cast<OpResult>(result)));
    }
  }
  return success();
}

void RequiresGradAnalysis::visitExternalCall(
    CallOpInterface call, ArrayRef<const RequiresGradLattice *> operands,
    ArrayRef<RequiresGradLattice *> results) {
  // (5)
  llvm::BitVector active(operands.size());
  for (auto [index, operand] : llvm::enumerate(operands))
    active[index] = operand->isSet();
  llvm::BitVector required(results.size(),
                           active.any() && !isUnderNoGrad(call));
  if (calls.requiresGrad)
    required = calls.requiresGrad(call, active);
  for (unsigned index : required.set_bits())
    mark(results[index]);
}

void RequiresGradAnalysis::visitNonControlFlowArguments(
    Operation *op, const RegionSuccessor &successor,
    ArrayRef<RequiresGradLattice *> arguments, unsigned firstIndex) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return visitOpaqueValues(branch);
  if (!getScalarBody(op))
    return setAllToEntryStates(arguments);
  if (readsStoppedOperands(op))
    return;
  // (3)
  for (OpOperand &operand : op->getOpOperands()) {
    auto argument =
        dyn_cast_if_present<BlockArgument>(getBodyArgument(operand));
    if (!argument)
      continue;
    const RequiresGradLattice *lattice = getLatticeElementFor(
        getProgramPointBefore(argument.getOwner()), operand.get());
    mark(arguments[argument.getArgNumber()], lattice->isSet());
  }
}

void RequiresGradAnalysis::visitOpaqueValues(RegionBranchOpInterface branch) {
  if (!hasUnknownDataflow(branch))
    return;
  SmallVector<Value> values(branch->getResults());
  for (Region &region : branch->getRegions())
    llvm::append_range(values, region.getArguments());
  for (Value value : values)
    for (Region &region : branch->getRegions())
      if (!region.empty())
        markOpaque(getLatticeElement(value), branch,
                   getProgramPointBefore(&region.front()));
}

void RequiresGradAnalysis::markOpaque(RequiresGradLattice *lattice,
                                      Operation *op, ProgramPoint *point) {
  // (6)
  if (readsStoppedOperands(op))
    return;
  for (Value input : getInputsOfRegionOp(op))
    mark(lattice, getLatticeElementFor(point, input)->isSet());
}

void RequiresGradAnalysis::setToEntryState(RequiresGradLattice *lattice) {
  Value value = lattice->getAnchor();
  if (!isDifferentiableType(value.getType()))
    return;
  if (Operation *op = value.getDefiningOp())
    return markOpaque(lattice, op, getProgramPointAfter(op));
  Block *block = cast<BlockArgument>(value).getOwner();
  if (!isa<CallableOpInterface>(block->getParentOp()))
    markOpaque(lattice, block->getParentOp(), getProgramPointBefore(block));
}

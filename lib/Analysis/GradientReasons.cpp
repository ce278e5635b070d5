//===- GradientReasons.cpp - Why a value needs a gradient -----------------===//
//
// Every value has sources: the values that it is computed from. A gradient
// passes from a source in the cases that RequiresGradAnalysis.cpp lists. Two
// searches in breadth go along them from source to value: one from the roots,
// through values that require a gradient, and one from the values that a
// barrier keeps from requiring one, through those that do not. All roots of a
// value are collected along the edges of the first.
//
//===----------------------------------------------------------------------===//

#include "Analysis/GradientReasons.h"

#include "Analysis/BodyDependence.h"
#include "Analysis/CarriesGradient.h"
#include "GradDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Control flow forwards other values to `value`: the same value, so that the
/// gradient passes.
void GradientReasons::addForwarded(Value value,
                                   SmallVectorImpl<Source> &sources) const {
  auto argument = dyn_cast<BlockArgument>(value);
  Block *block = argument ? argument.getOwner() : nullptr;
  if (block && !block->isEntryBlock()) {
    for (auto it = block->pred_begin(), e = block->pred_end(); it != e; ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      if (!branch)
        continue;
      SuccessorOperands operands =
          branch.getSuccessorOperands(it.getSuccessorIndex());
      if (Value operand = operands[argument.getArgNumber()])
        sources.push_back({operand, true});
    }
    return;
  }
  auto branch = dyn_cast<RegionBranchOpInterface>(
      block ? block->getParentOp() : value.getDefiningOp());
  if (!branch)
    return;
  RegionBranchInverseSuccessorMapping mapping;
  branch.getSuccessorInputOperandMapping(mapping);
  for (OpOperand *operand : mapping.lookup(value))
    sources.push_back({operand->get(), true});
}

/// Anything that an op with unknown dataflow reads may reach its values.
void GradientReasons::addInputs(Operation *op,
                                SmallVectorImpl<Source> &sources) const {
  bool passes = !readsStoppedOperands(op);
  for (Value input : getInputsOfRegionOp(op))
    sources.push_back({input, passes});
}

void GradientReasons::addCallOperands(CallOpInterface call, unsigned result,
                                      SmallVectorImpl<Source> &sources) const {
  for (auto [index, operand] : llvm::enumerate(call->getOperands())) {
    bool passes = !isUnderNoGrad(call);
    if (calls.requiresGrad) {
      llvm::BitVector active(call->getNumOperands());
      active[index] = isDifferentiableType(operand.getType());
      passes = calls.requiresGrad(call, active).test(result);
    }
    sources.push_back({operand, passes});
  }
}

void GradientReasons::addStructured(OpResult result,
                                    SmallVectorImpl<Source> &sources) const {
  Operation *op = result.getOwner();
  bool passes = !readsStoppedOperands(op);
  bool hasBarrier = op->walk([](StopGradientOp) {
                        return WalkResult::interrupt();
                      }).wasInterrupted();
  BodyDependence dependence = computeBodyDependence(result);
  for (Value captured : dependence.captures)
    sources.push_back({captured, passes});
  for (OpOperand &operand : op->getOpOperands()) {
    // What the body does not read, such as the old content of a destination,
    // is no source at all.
    if (dependence.operands.test(operand.getOperandNumber()))
      sources.push_back({operand.get(), passes});
    else if (hasBarrier)
      sources.push_back({operand.get(), false});
  }
}

SmallVector<GradientReasons::Source>
GradientReasons::getSources(Value value) const {
  SmallVector<Source> sources;
  Operation *op = value.getDefiningOp();
  if (!op) {
    Operation *parent = value.getParentBlock()->getParentOp();
    if (isa<CallableOpInterface>(parent) &&
        value.getParentBlock()->isEntryBlock())
      return sources;
    if (hasUnknownDataflow(parent))
      addInputs(parent, sources);
    else
      addForwarded(value, sources);
  } else if (hasUnknownDataflow(op)) {
    addInputs(op, sources);
  } else if (isa<RegionBranchOpInterface>(op)) {
    addForwarded(value, sources);
  } else if (auto call = dyn_cast<CallOpInterface>(op)) {
    addCallOperands(call, cast<OpResult>(value).getResultNumber(), sources);
  } else if (getScalarBody(op)) {
    addStructured(cast<OpResult>(value), sources);
  } else {
    bool passes = !readsStoppedOperands(op);
    for (OpOperand &operand : op->getOpOperands())
      sources.push_back(
          {operand.get(),
           passes && carriesGradient(operand, cast<OpResult>(value))});
  }
  llvm::erase_if(sources, [](const Source &source) {
    return !isDifferentiableType(source.value.getType());
  });
  return sources;
}

//===----------------------------------------------------------------------===//
// The searches
//===----------------------------------------------------------------------===//

/// The op that makes `value` out of its sources.
static Operation *getMaker(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

GradientReasons::GradientReasons(FunctionOpInterface function,
                                 ArrayRef<Value> roots,
                                 const GradientAnalysis &analysis,
                                 const CallModel &calls)
    : roots(roots), analysis(analysis), calls(calls) {
  follow(function);
}

void GradientReasons::follow(FunctionOpInterface function) {
  SmallVector<Value> reached(roots);
  for (Value root : roots)
    causes[root] = Value();
  SmallVector<Value> stopped;
  llvm::DenseMap<Value, SmallVector<Value>> targets;

  auto visit = [&](Value value) {
    if (!isDifferentiableType(value.getType()))
      return;
    bool required = analysis.requiresGrad(value);
    if (isa_and_present<LeafOp>(value.getDefiningOp())) {
      causes[value] = Value();
      reached.push_back(value);
      return;
    }
    for (const Source &source : getSources(value)) {
      bool sourceRequired = analysis.requiresGrad(source.value);
      if (!required && sourceRequired && !source.passes) {
        if (barriers.try_emplace(value, getMaker(value)).second)
          stopped.push_back(value);
      } else if (required == sourceRequired && source.passes) {
        targets[source.value].push_back(value);
      }
    }
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), visit);
    if (getScalarBody(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), visit);
    return WalkResult::advance();
  });

  for (size_t i = 0; i < reached.size(); ++i) {
    Value value = reached[i];
    for (Value target : targets.lookup(value))
      if (causes.try_emplace(target, value).second)
        reached.push_back(target);
  }
  for (auto [number, root] : llvm::enumerate(roots)) {
    rootNumbers[root].resize(roots.size());
    rootNumbers[root].set(number);
  }
  llvm::SetVector<Value> pending(roots.begin(), roots.end());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    llvm::BitVector numbers = rootNumbers[value];
    for (Value target : targets.lookup(value)) {
      llvm::BitVector &known = rootNumbers[target];
      llvm::BitVector before = known;
      known |= numbers;
      if (known != before)
        pending.insert(target);
    }
  }

  for (size_t i = 0; i < stopped.size(); ++i) {
    Operation *barrier = barriers.lookup(stopped[i]);
    for (Value target : targets.lookup(stopped[i]))
      if (barriers.try_emplace(target, barrier).second)
        stopped.push_back(target);
  }
}

GradientReason GradientReasons::explain(Value value) const {
  GradientReason reason;
  if (!isDifferentiableType(value.getType())) {
    reason.kind = GradientReason::NoGradientType;
    return reason;
  }
  if (!analysis.requiresGrad(value)) {
    reason.barrier = barriers.lookup(value);
    reason.kind =
        reason.barrier ? GradientReason::Stopped : GradientReason::Constant;
    return reason;
  }
  reason.root = value;
  while (Value cause = causes.lookup(reason.root)) {
    reason.path.push_back(getMaker(reason.root));
    reason.root = cause;
  }
  std::reverse(reason.path.begin(), reason.path.end());
  reason.kind =
      reason.path.empty() ? GradientReason::Root : GradientReason::Depends;
  return reason;
}

SmallVector<Value>
GradientReasons::select(const llvm::BitVector &numbers) const {
  SmallVector<Value> selected;
  for (unsigned number : numbers.set_bits())
    selected.push_back(roots[number]);
  return selected;
}

SmallVector<Value> GradientReasons::getRoots(Value value) const {
  return select(rootNumbers.lookup(value));
}

SmallVector<Value> GradientReasons::getCutRoots(Operation *op) const {
  llvm::BitVector cut(roots.size());
  for (Value result : op->getResults()) {
    if (!isDifferentiableType(result.getType()))
      continue;
    for (const Source &source : getSources(result))
      if (!source.passes)
        cut |= rootNumbers.lookup(source.value);
  }
  return select(cut);
}

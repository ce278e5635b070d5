//===- CheckRequiresGrad.cpp - Compare written types with the ops ---------===//
//
// Walks each function forward and records, for every value that requires a
// gradient, the value it got that from. Roots are what the signature says:
// arguments that carry, or have the attribute. The result of a call is what
// the callee's signature says of it, for the callee is checked by itself.
// Then each type is held against the record.
//
// Not a use of lib/Analysis on purpose, except for CarriesGradient.h, the
// definition that both sides have to agree on.
//
//===----------------------------------------------------------------------===//

#include "Analysis/BodyDependence.h"
#include "Analysis/CarriesGradient.h"
#include "Differentiate/Passes.h"
#include "Differentiate/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::grad {
#define GEN_PASS_DEF_CHECKREQUIRESGRADPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
class FunctionChecker {
public:
  explicit FunctionChecker(FunctionOpInterface function) : function(function) {}

  LogicalResult check();

private:
  /// Records that `value` requires a gradient because `cause` does, or, with a
  /// null cause, by itself.
  void reach(Value value, Value cause);
  void propagate(Value value);
  void propagate(OpOperand &operand);
  void forward(OpOperand &operand);
  void reachAll(Operation *op, Value cause);
  LogicalResult checkValue(Value value);
  void explain(Diagnostic &diagnostic, Value value);

  FunctionOpInterface function;
  DenseMap<Value, Value> causes;
  SmallVector<Value> worklist;
};
} // namespace

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

void FunctionChecker::reach(Value value, Value cause) {
  if (isDifferentiableType(value.getType()) &&
      causes.try_emplace(value, cause).second)
    worklist.push_back(value);
}

/// Control flow hands `operand` on to values that are the same.
void FunctionChecker::forward(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (auto [index, block] : llvm::enumerate(op->getSuccessors()))
      if (auto argument = mlir::detail::getBranchSuccessorArgument(
              branch.getSuccessorOperands(index), operand.getOperandNumber(),
              block))
        reach(*argument, operand.get());
    return;
  }
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  RegionBranchPoint point = RegionBranchPoint::parent();
  if (!branch) {
    branch = dyn_cast<RegionBranchOpInterface>(op->getParentOp());
    auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op);
    if (!branch || !terminator)
      return;
    point = RegionBranchPoint(terminator);
  }
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping, point);
  for (Value input : mapping.lookup(&operand))
    reach(input, operand.get());
}

/// Anything that an op with unknown dataflow reads reaches all its values.
void FunctionChecker::reachAll(Operation *op, Value cause) {
  for (Value result : op->getResults())
    reach(result, cause);
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      reach(argument, cause);
}

void FunctionChecker::propagate(OpOperand &operand) {
  Operation *op = operand.getOwner();
  forward(operand);
  if (hasUnknownDataflow(op) && !readsStoppedOperands(op))
    reachAll(op, operand.get());
  if (isa<CallOpInterface, RegionBranchOpInterface>(op) ||
      readsStoppedOperands(op))
    return;
  for (OpResult result : op->getResults())
    if (carriesGradient(operand, result))
      reach(result, operand.get());
}

void FunctionChecker::propagate(Value value) {
  for (OpOperand &use : value.getUses()) {
    propagate(use);
    // The op whose body captures the value computes with it as well.
    for (Operation *parent = use.getOwner()->getParentOp();
         parent && !parent->isAncestor(value.getParentBlock()->getParentOp());
         parent = parent->getParentOp()) {
      if (readsStoppedOperands(parent))
        continue;
      if (hasUnknownDataflow(parent))
        reachAll(parent, value);
      if (!getScalarBody(parent))
        continue;
      for (OpResult result : parent->getResults())
        if (computeBodyDependence(result).captures.contains(value))
          reach(result, value);
    }
  }
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

/// Names the value in a note.
static void describe(Diagnostic &diagnostic, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    diagnostic << "result " << cast<OpResult>(value).getResultNumber()
               << " of '" << value.getDefiningOp()->getName() << "'";
    return;
  }
  if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    diagnostic << describeArgument(argument);
  else
    diagnostic << "argument " << argument.getArgNumber() << " of a block of '"
               << argument.getOwner()->getParentOp()->getName() << "'";
}

/// Shows the way from `value` back to a root.
void FunctionChecker::explain(Diagnostic &diagnostic, Value value) {
  constexpr unsigned kMaxSteps = 8;
  SmallVector<Value> path;
  for (Value cause = causes.lookup(value); cause; cause = causes.lookup(cause))
    path.push_back(cause);
  for (auto [index, cause] : llvm::enumerate(path)) {
    if (index == kMaxSteps && path.size() > kMaxSteps + 1) {
      diagnostic.attachNote(path.back().getLoc())
          << "and so on, through " << path.size() - kMaxSteps - 1
          << " more values";
      break;
    }
    Diagnostic &note = diagnostic.attachNote(cause.getLoc());
    note << "depends on ";
    describe(note, cause);
  }
  if (path.size() > kMaxSteps + 1) {
    Diagnostic &note = diagnostic.attachNote(path.back().getLoc());
    note << "depends on ";
    describe(note, path.back());
  }
}

LogicalResult FunctionChecker::checkValue(Value value) {
  Type type = value.getType();
  bool carries = hasRequiresGrad(type);
  bool
    requires
  = causes.contains(value);
  if (carries && !isDifferentiableType(type)) {
    InFlightDiagnostic diagnostic = emitError(value.getLoc());
    describe(*diagnostic.getUnderlyingDiagnostic(), value);
    return diagnostic << " has type " << type
                      << ", but only floating-point and complex values can "
                         "require a gradient";
  }
  if (requires && !carries && canHaveRequiresGrad(type)) {
    InFlightDiagnostic diagnostic = emitError(value.getLoc());
    describe(*diagnostic.getUnderlyingDiagnostic(), value);
    diagnostic << " requires a gradient, but its type " << type << " hides it";
    explain(*diagnostic.getUnderlyingDiagnostic(), value);
    return diagnostic;
  }
  // A destination gets the type of what is going to be in it.
  if (!carries || requires ||
      isa_and_present<PromoteOp, tensor::EmptyOp>(value.getDefiningOp()))
    return success();
  InFlightDiagnostic diagnostic = emitError(value.getLoc());
  describe(*diagnostic.getUnderlyingDiagnostic(), value);
  diagnostic << " has type " << type << ", but cannot require a gradient";
  Operation *op = value.getDefiningOp();
  if (op && isUnderNoGrad(op) && readsStoppedOperands(op))
    diagnostic.attachNote() << "the op is under grad.no_grad";
  else if (isa_and_present<StopGradientOp>(op))
    diagnostic.attachNote() << "no gradient passes the op";
  else
    diagnostic.attachNote() << "nothing that it depends on requires one";
  return diagnostic;
}

LogicalResult FunctionChecker::check() {
  for (BlockArgument argument : function.getArguments())
    if (hasRequiresGrad(argument.getType()) ||
        function.getArgAttr(argument.getArgNumber(), kRequiresGradArg))
      reach(argument, {});
  function.walk([&](Operation *op) {
    if (isa<LeafOp>(op))
      reach(op->getResult(0), {});
    if (isa<CallOpInterface>(op))
      for (Value result : op->getResults())
        if (hasRequiresGrad(result.getType()))
          reach(result, {});
  });
  while (!worklist.empty())
    propagate(worklist.pop_back_val());

  bool ok = true;
  auto checkIt = [&](Value value) { ok &= succeeded(checkValue(value)); };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::for_each(op->getResults(), checkIt);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), checkIt);
  });
  return success(ok);
}

namespace {
struct CheckRequiresGradPass
    : public mlir::grad::impl::CheckRequiresGradPassBase<
          CheckRequiresGradPass> {
  void runOnOperation() override {
    bool ok = true;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (!function.isExternal())
        ok &= succeeded(FunctionChecker(function).check());
    });
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

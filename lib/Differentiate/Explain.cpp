//===- Explain.cpp - Say why values require a gradient --------------------===//

#include "Analysis/BodyDependence.h"
#include "Analysis/CarriesGradient.h"
#include "Analysis/GradientReasons.h"
#include "Differentiate/Joint.h"
#include "Differentiate/Passes.h"
#include "Differentiate/Transforms.h"

namespace mlir::grad {
#define GEN_PASS_DEF_EXPLAINPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// The attribute that holds the reasons: on an op, one dictionary a result; on
/// an argument of a function, one dictionary.
static constexpr llvm::StringLiteral kExplainAttr = "grad.explain";
/// On a barrier: numbers of the arguments whose path it cuts.
static constexpr llvm::StringLiteral kCutsAttr = "grad.cuts";

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Tells what a call does to gradients by analysing its callee with the
/// operands as roots.
class CallSummaries {
public:
  explicit CallSummaries(ModuleOp module) : symbols(module) {
    model.requiresGrad = [this](CallOpInterface call,
                                const llvm::BitVector &active) {
      return getRequired(call, active);
    };
    model.useful = [this](CallOpInterface call, const llvm::BitVector &wanted) {
      return getUseful(call, wanted);
    };
  }

  const CallModel &getModel() const { return model; }

private:
  /// The function with a body that is called, or null.
  func::FuncOp getCallee(CallOpInterface call) {
    auto callOp = dyn_cast<func::CallOp>(call.getOperation());
    auto callee =
        callOp ? symbols.lookup<func::FuncOp>(callOp.getCallee()) : nullptr;
    return callee && !callee.isExternal() ? callee : func::FuncOp();
  }

  llvm::BitVector getRequired(CallOpInterface call,
                              const llvm::BitVector &active);
  llvm::BitVector getUseful(CallOpInterface call,
                            const llvm::BitVector &wanted);

  SymbolTable symbols;
  CallModel model;
  using Key = std::pair<Operation *, std::vector<unsigned>>;
  std::map<Key, llvm::BitVector> required, useful;
};
} // namespace

static std::vector<unsigned> getSetBits(const llvm::BitVector &bits) {
  return {bits.set_bits_begin(), bits.set_bits_end()};
}

llvm::BitVector CallSummaries::getRequired(CallOpInterface call,
                                           const llvm::BitVector &active) {
  bool any = active.any() && !isUnderNoGrad(call);
  func::FuncOp callee = getCallee(call);
  if (!any || !callee)
    return llvm::BitVector(call->getNumResults(), any);
  // Until it is known otherwise, for recursive calls, everything passes.
  auto [it, isNew] =
      required.insert({{callee, getSetBits(active)},
                       llvm::BitVector(call->getNumResults(), true)});
  if (!isNew)
    return it->second;
  SmallVector<Value> roots;
  for (unsigned index : active.set_bits())
    roots.push_back(callee.getArgument(index));
  FailureOr<GradientAnalysis> analysis =
      GradientAnalysis::compute(callee, roots, /*outputs=*/{}, model);
  if (failed(analysis))
    return it->second;
  llvm::BitVector results(call->getNumResults());
  callee.walk([&](func::ReturnOp op) {
    for (auto [index, operand] : llvm::enumerate(op.getOperands()))
      if (analysis->requiresGrad(operand))
        results.set(index);
  });
  return it->second = results;
}

llvm::BitVector CallSummaries::getUseful(CallOpInterface call,
                                         const llvm::BitVector &wanted) {
  bool any = wanted.any() && !isUnderNoGrad(call);
  func::FuncOp callee = getCallee(call);
  if (!any || !callee)
    return llvm::BitVector(call->getNumOperands(), any);
  auto [it, isNew] =
      useful.insert({{callee, getSetBits(wanted)},
                     llvm::BitVector(call->getNumOperands(), true)});
  if (!isNew)
    return it->second;
  SmallVector<Value> outputs;
  callee.walk([&](func::ReturnOp op) {
    for (unsigned index : wanted.set_bits())
      outputs.push_back(op.getOperand(index));
  });
  FailureOr<GradientAnalysis> analysis =
      GradientAnalysis::compute(callee, /*roots=*/{}, outputs, model);
  if (failed(analysis))
    return it->second;
  llvm::BitVector operands(call->getNumOperands());
  for (BlockArgument argument : callee.getArguments())
    operands[argument.getArgNumber()] = analysis->isUseful(argument);
  return it->second = operands;
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

namespace {
class Explainer {
public:
  Explainer(func::FuncOp func, ArrayRef<Value> roots,
            const GradientAnalysis &analysis, const CallModel &calls)
      : func(func), analysis(analysis), reasons(func, roots, analysis, calls) {}

  void emitRemarks();
  void writeAttributes();

private:
  void remark(OpResult result);
  DictionaryAttr describe(Value value);
  DenseI64ArrayAttr getNumbers(ArrayRef<Value> arguments);
  void walk(function_ref<void(Operation *)> visit) {
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != func)
        visit(op);
      return getScalarBody(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }

  func::FuncOp func;
  const GradientAnalysis &analysis;
  GradientReasons reasons;
};
} // namespace

/// The op that says that no gradient passes `barrier`: the region around it for
/// an op under `grad.no_grad`.
static Operation *getBarrierOp(Operation *barrier) {
  if (isUnderNoGrad(barrier) && !isa<StopGradientOp>(barrier))
    return barrier->getParentOfType<NoGradOp>();
  return barrier;
}

void Explainer::remark(OpResult result) {
  constexpr size_t kMaxSteps = 8;
  Operation *op = result.getOwner();
  GradientReason reason = reasons.explain(result);
  InFlightDiagnostic diagnostic = op->emitRemark();
  if (op->getNumResults() > 1)
    diagnostic << "result " << result.getResultNumber() << " ";
  switch (reason.kind) {
  case GradientReason::Root:
  case GradientReason::Depends:
    diagnostic << "requires grad"
               << (analysis.isUseful(result) ? ": " : ", not needed: ");
    if (!analysis.isUseful(result)) {
      diagnostic << "reaches no output that is differentiated";
      break;
    }
    if (auto argument = dyn_cast<BlockArgument>(reason.root))
      diagnostic << "depends on " << describeArgument(argument);
    else
      diagnostic << (reason.path.empty() ? "is a leaf" : "depends on a leaf");
    if (!reason.path.empty() && reason.path.back() == op)
      reason.path.pop_back();
    for (Operation *step : ArrayRef(reason.path).take_front(kMaxSteps))
      diagnostic.attachNote(step->getLoc())
          << "through '" << step->getName() << "' here";
    if (reason.path.size() > kMaxSteps)
      diagnostic.attachNote(reason.path[kMaxSteps]->getLoc())
          << "and on through " << reason.path.size() - kMaxSteps
          << " more ops from here";
    break;
  case GradientReason::NoGradientType:
    diagnostic << "does not require grad: "
               << (getElementTypeOrSelf(result.getType()).isIntOrIndex()
                       ? "integer"
                       : "its type has no gradient");
    break;
  case GradientReason::Stopped: {
    Operation *barrier = getBarrierOp(reason.barrier);
    diagnostic << "does not require grad: stopped by '" << barrier->getName()
               << "'";
    if (barrier != op)
      diagnostic.attachNote(barrier->getLoc()) << "stopped here";
    break;
  }
  case GradientReason::Constant:
    diagnostic << "does not require grad: reads only constants";
    break;
  }
  for (Value root : reasons.getCutRoots(op))
    diagnostic.attachNote(root.getLoc())
        << "cuts the path of " << describeArgument(cast<BlockArgument>(root));
}

void Explainer::emitRemarks() {
  walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      remark(result);
  });
}

DenseI64ArrayAttr Explainer::getNumbers(ArrayRef<Value> arguments) {
  auto numbers = llvm::map_to_vector(arguments, [](Value argument) -> int64_t {
    return cast<BlockArgument>(argument).getArgNumber();
  });
  return DenseI64ArrayAttr::get(func.getContext(), numbers);
}

DictionaryAttr Explainer::describe(Value value) {
  static constexpr StringLiteral kNames[] = {"root", "depends", "type",
                                             "stopped", "constant"};
  Builder builder(func.getContext());
  GradientReason reason = reasons.explain(value);
  NamedAttrList attributes;
  attributes.set("reason", builder.getStringAttr(kNames[reason.kind]));
  attributes.set("requires_grad",
                 builder.getBoolAttr(analysis.requiresGrad(value)));
  attributes.set("needed", builder.getBoolAttr(analysis.needsGradient(value)));
  if (auto argument = dyn_cast_if_present<BlockArgument>(reason.root))
    attributes.set("root", builder.getI64IntegerAttr(argument.getArgNumber()));
  if (analysis.requiresGrad(value))
    attributes.set("roots", getNumbers(reasons.getRoots(value)));
  if (!reason.path.empty()) {
    SmallVector<Attribute> path;
    for (Operation *op : reason.path)
      path.push_back(op->getLoc());
    attributes.set("path", builder.getArrayAttr(path));
  }
  if (reason.barrier)
    attributes.set("barrier", LocationAttr(reason.barrier->getLoc()));
  return attributes.getDictionary(func.getContext());
}

void Explainer::writeAttributes() {
  Builder builder(func.getContext());
  for (BlockArgument argument : func.getArguments())
    func.setArgAttr(argument.getArgNumber(), kExplainAttr, describe(argument));
  walk([&](Operation *op) {
    if (op->getNumResults() == 0)
      return;
    SmallVector<Attribute> results;
    for (Value result : op->getResults())
      results.push_back(describe(result));
    op->setAttr(kExplainAttr, builder.getArrayAttr(results));
    if (SmallVector<Value> cut = reasons.getCutRoots(op); !cut.empty())
      op->setAttr(kCutsAttr, getNumbers(cut));
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static SmallVector<Value> getRoots(func::FuncOp func) {
  SmallVector<Value> roots;
  for (BlockArgument argument : func.getArguments())
    if (isDifferentiableType(argument.getType()) &&
        (func.getArgAttr(argument.getArgNumber(), kRequiresGradArg) ||
         (func.isPublic() && hasRequiresGrad(argument.getType()))))
      roots.push_back(argument);
  return roots;
}

/// The returned values that are differentiated: those listed in
/// `grad.cotangents`, or all.
static SmallVector<Value> getOutputs(func::FuncOp func) {
  SmallVector<Value> outputs;
  auto chosen = func->getAttrOfType<DenseI64ArrayAttr>(kCotangentsAttr);
  func.walk([&](func::ReturnOp op) {
    for (auto [number, value] : llvm::enumerate(op.getOperands()))
      if (!chosen || llvm::is_contained(chosen.asArrayRef(), number))
        outputs.push_back(value);
  });
  return outputs;
}

namespace {
struct ExplainPass : grad::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    CallSummaries calls(module);
    for (auto func : module.getOps<func::FuncOp>()) {
      SmallVector<Value> roots = getRoots(func);
      if (func.isExternal() || roots.empty())
        continue;
      FailureOr<GradientAnalysis> analysis = GradientAnalysis::compute(
          func, roots, getOutputs(func), calls.getModel());
      if (failed(analysis))
        return signalPassFailure();
      Explainer explainer(func, roots, *analysis, calls.getModel());
      if (attributes)
        explainer.writeAttributes();
      else
        explainer.emitRemarks();
    }
  }
};
} // namespace

//===- InferRequiresGrad.cpp - Write requires_grad types ------------------===//
//
// Works in three steps over the functions of a module, whose types are plain
// by then:
//
// (1) Find the instances: pairs of a function and the arguments of it that are
//     roots. They start from the functions that have to stay as they are, with
//     their own roots, and spread along calls and transforms. Each instance is
//     analysed once, callees before callers.
// (2) Give each instance a function: the original, or a clone.
// (3) Write the types of each, and direct its calls at the instances they need.
//
//===----------------------------------------------------------------------===//

#include "Analysis/CarriesGradient.h"
#include "Analysis/GradientAnalysis.h"
#include "Differentiate/Encodings.h"
#include "Differentiate/LowerRegions.h"
#include "Differentiate/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::grad {
#define GEN_PASS_DEF_INFERREQUIRESGRADPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// A function and the arguments of it that are roots.
struct Instance {
  func::FuncOp origin;
  llvm::BitVector roots;
  /// Results that require a gradient; known with the analysis.
  llvm::BitVector results;
  std::optional<GradientAnalysis> analysis;
  /// A call that was met while its callee was being analysed.
  Operation *recursiveCall = nullptr;
  /// The function that has this instance's types.
  func::FuncOp function;
};

class Inference {
public:
  /// Notes the roots, which are in the types that are erased next.
  explicit Inference(ModuleOp module) : module(module), symbolTable(module) {
    findOwnRoots();
  }

  /// Infers the types of the functions of the module, which are plain.
  LogicalResult run();

private:
  void findOwnRoots();
  bool isPinned(func::FuncOp function);
  Instance *getInstance(func::FuncOp function, const llvm::BitVector &roots,
                        Operation *user);
  LogicalResult analyse(Instance &instance);
  FailureOr<GradientAnalysis> analyse(func::FuncOp function,
                                      const llvm::BitVector &roots);
  llvm::BitVector analyseCall(CallOpInterface call,
                              const llvm::BitVector &active);
  FailureOr<Instance *> getCallee(Operation *op,
                                  const GradientAnalysis &analysis);
  LogicalResult use(Instance *instance);
  void assignFunctions();
  LogicalResult write(Instance &instance);
  LogicalResult checkExternalCalls(func::FuncOp function,
                                   const GradientAnalysis &analysis);

  /// The function with a body that is called `name`, or null.
  func::FuncOp lookup(StringRef name) {
    auto function = symbolTable.lookup<func::FuncOp>(name);
    return function && !function.isExternal() ? function : func::FuncOp();
  }

  ModuleOp module;
  SymbolTable symbolTable;
  llvm::MapVector<Operation *, llvm::BitVector> ownRoots;
  DenseMap<Operation *, SmallVector<std::unique_ptr<Instance>>> instances;
  /// The instances that are needed, in the order found.
  llvm::SetVector<Instance *> used;
  bool failedInCall = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

void Inference::findOwnRoots() {
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::BitVector roots(function.getNumArguments());
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      roots[index] = isDifferentiableType(type) &&
                     (function.getArgAttr(index, kRequiresGradArg) ||
                      (function.isPublic() && hasRequiresGrad(type)));
    ownRoots[function] = roots;
  }
}

/// The roots of the callee of a transform.
template <typename OpTy>
static llvm::BitVector getWrt(OpTy op) {
  llvm::BitVector roots(op.getPrimals().size());
  for (int64_t index : op.getWrt())
    roots.set(index);
  return roots;
}

/// True when `function` has to keep its own roots: someone uses it who is not
/// in sight or does not say with which.
bool Inference::isPinned(func::FuncOp function) {
  if (function.isPublic() || ownRoots[function].any())
    return true;
  auto uses = SymbolTable::getSymbolUses(function, module);
  return !uses || !llvm::all_of(*uses, [](SymbolTable::SymbolUse use) {
    return isa<func::CallOp, VjpOp, JvpOp>(use.getUser());
  });
}

//===----------------------------------------------------------------------===//
// (1) Instances
//===----------------------------------------------------------------------===//

FailureOr<GradientAnalysis> Inference::analyse(func::FuncOp function,
                                               const llvm::BitVector &roots) {
  CallModel calls;
  calls.requiresGrad = [this](CallOpInterface call,
                              const llvm::BitVector &active) {
    return analyseCall(call, active);
  };
  SmallVector<Value> values;
  for (unsigned index : roots.set_bits())
    values.push_back(function.getArgument(index));
  FailureOr<GradientAnalysis> analysis =
      GradientAnalysis::compute(function, values, /*outputs=*/{}, calls);
  if (failedInCall)
    return failure();
  return analysis;
}

llvm::BitVector Inference::analyseCall(CallOpInterface call,
                                       const llvm::BitVector &active) {
  llvm::BitVector none(call->getNumResults());
  auto callOp = dyn_cast<func::CallOp>(call.getOperation());
  func::FuncOp callee = callOp ? lookup(callOp.getCallee()) : func::FuncOp();
  if (!callee)
    return none;
  Instance *instance = getInstance(callee, active, call);
  if (!instance) {
    failedInCall = true;
    return none;
  }
  return instance->results;
}

Instance *Inference::getInstance(func::FuncOp function,
                                 const llvm::BitVector &roots,
                                 Operation *user) {
  auto &known = instances[function];
  auto it = llvm::find_if(known, [&](const std::unique_ptr<Instance> &other) {
    return other->roots == roots;
  });
  if (it == known.end()) {
    auto owned = std::make_unique<Instance>();
    Instance *instance = owned.get();
    instance->origin = function;
    instance->roots = roots;
    instance->results.resize(function.getNumResults());
    known.push_back(std::move(owned));
    return succeeded(analyse(*instance)) ? instance : nullptr;
  }
  // A recursive call without roots has results without a gradient, if the
  // function has no leaves of its own.
  Instance *instance = it->get();
  if (instance->analysis)
    return instance;
  if (roots.any()) {
    user->emitOpError("calls '")
        << function.getName()
        << "' recursively with arguments that require a gradient";
    return nullptr;
  }
  instance->recursiveCall = user;
  return instance;
}

LogicalResult Inference::analyse(Instance &instance) {
  FailureOr<GradientAnalysis> analysis =
      analyse(instance.origin, instance.roots);
  if (failed(analysis) ||
      failed(checkExternalCalls(instance.origin, *analysis)))
    return failure();
  instance.origin.walk([&](func::ReturnOp op) {
    for (auto [index, operand] : llvm::enumerate(op.getOperands()))
      if (analysis->requiresGrad(operand))
        instance.results.set(index);
  });
  if (instance.recursiveCall && instance.results.any())
    return instance.recursiveCall->emitOpError("calls '")
           << instance.origin.getName()
           << "' recursively, whose results require a gradient";
  instance.analysis = std::move(*analysis);
  return success();
}

LogicalResult Inference::checkExternalCalls(func::FuncOp function,
                                            const GradientAnalysis &analysis) {
  WalkResult result = function.walk([&](CallOpInterface call) {
    auto callOp = dyn_cast<func::CallOp>(call.getOperation());
    func::FuncOp callee = callOp ? lookup(callOp.getCallee()) : func::FuncOp();
    if (callee || isUnderNoGrad(call))
      return WalkResult::advance();
    for (Value operand : call.getArgOperands()) {
      if (!analysis.requiresGrad(operand))
        continue;
      InFlightDiagnostic diagnostic =
          call.emitOpError("passes a value that requires a gradient to a "
                           "function whose body is not known");
      diagnostic.attachNote(operand.getLoc())
          << "use grad.stop_gradient on the value if no gradient is wanted";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// (2) Functions for the instances
//===----------------------------------------------------------------------===//

/// The instance that `op` calls or transforms, or null for any other op.
FailureOr<Instance *> Inference::getCallee(Operation *op,
                                           const GradientAnalysis &analysis) {
  func::FuncOp function;
  llvm::BitVector roots;
  if (auto call = dyn_cast<func::CallOp>(op)) {
    function = lookup(call.getCallee());
    roots.resize(call.getNumOperands());
    for (auto [index, operand] : llvm::enumerate(call.getOperands()))
      roots[index] = analysis.requiresGrad(operand);
  } else if (auto vjp = dyn_cast<VjpOp>(op)) {
    function = lookup(vjp.getCallee());
    roots = getWrt(vjp);
  } else if (auto jvp = dyn_cast<JvpOp>(op)) {
    function = lookup(jvp.getCallee());
    roots = getWrt(jvp);
  }
  if (!function)
    return nullptr;
  if (Instance *instance = getInstance(function, roots, op))
    return instance;
  return failure();
}

/// Marks an instance and those it needs as used.
LogicalResult Inference::use(Instance *instance) {
  if (!used.insert(instance))
    return success();
  WalkResult result = instance->origin.walk([&](Operation *op) {
    FailureOr<Instance *> callee = getCallee(op, *instance->analysis);
    if (failed(callee) || (*callee && failed(use(*callee))))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Inference::assignFunctions() {
  // The original serves the instance with its own roots if it is pinned, else
  // the first one.
  DenseSet<Operation *> taken;
  for (Instance *instance : used)
    if (isPinned(instance->origin) &&
        instance->roots == ownRoots[instance->origin]) {
      instance->function = instance->origin;
      taken.insert(instance->origin);
    }
  SmallVector<std::pair<Instance *, func::FuncOp>> clones;
  for (Instance *instance : used) {
    if (instance->function)
      continue;
    if (taken.insert(instance->origin).second) {
      instance->function = instance->origin;
      continue;
    }
    func::FuncOp clone = instance->origin.clone();
    clone.setPrivate();
    for (unsigned i = 0, e = clone.getNumArguments(); i < e; ++i)
      clone.removeArgAttr(i, kRequiresGradArg);
    instance->function = clone;
    clones.push_back({instance, clone});
  }
  for (auto [instance, clone] : clones)
    symbolTable.insert(clone, std::next(Block::iterator(instance->origin)));
}

//===----------------------------------------------------------------------===//
// (3) Types
//===----------------------------------------------------------------------===//

LogicalResult Inference::write(Instance &instance) {
  func::FuncOp function = instance.function;
  FailureOr<GradientAnalysis> analysis = analyse(function, instance.roots);
  if (failed(analysis))
    return failure();
  if (convertMixedElementwise(function, [&](Value value) {
        return analysis->requiresGrad(value);
      })) {
    analysis = analyse(function, instance.roots);
    if (failed(analysis))
      return failure();
  }

  SmallVector<std::pair<Operation *, Instance *>> callees;
  WalkResult result = function.walk([&](Operation *op) {
    FailureOr<Instance *> callee = getCallee(op, *analysis);
    if (failed(callee))
      return WalkResult::interrupt();
    if (*callee)
      callees.push_back({op, *callee});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  writeEncodings(function,
                 [&](Value value) { return analysis->requiresGrad(value); });
  for (auto [op, callee] : callees)
    op->setAttr("callee",
                FlatSymbolRefAttr::get(callee->function.getSymNameAttr()));
  // What is left are calls of unknown functions under no_grad.
  function.walk([&](CallOpInterface call) {
    auto callOp = dyn_cast<func::CallOp>(call.getOperation());
    if (callOp && lookup(callOp.getCallee()))
      return;
    for (OpOperand &operand : call.getArgOperandsMutable())
      convertOperand(operand, /*requiresGrad=*/false);
  });
  return success();
}

LogicalResult Inference::run() {
  specializeCallsUnderNoGrad(module);
  symbolTable = SymbolTable(module);
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    functions.push_back(function);
    ownRoots.insert({function, llvm::BitVector(function.getNumArguments())});
  }

  auto useWithOwnRoots = [&](func::FuncOp function) -> LogicalResult {
    Instance *instance = getInstance(function, ownRoots[function], function);
    return instance ? use(instance) : failure();
  };
  for (func::FuncOp function : functions)
    if (isPinned(function) && failed(useWithOwnRoots(function)))
      return failure();
  // Functions that nothing reaches.
  for (func::FuncOp function : functions) {
    bool isUsed = llvm::any_of(
        used, [&](Instance *instance) { return instance->origin == function; });
    if (!isUsed && failed(useWithOwnRoots(function)))
      return failure();
  }

  assignFunctions();
  for (Instance *instance : used)
    if (failed(write(*instance)))
      return failure();
  return success();
}

namespace {
struct InferRequiresGradPass
    : public mlir::grad::impl::InferRequiresGradPassBase<
          InferRequiresGradPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Unreachable blocks have no dataflow to derive types from.
    IRRewriter rewriter(&getContext());
    (void)eraseUnreachableBlocks(rewriter, module->getRegions());
    SmallVector<std::unique_ptr<Inference>> inferences;
    module.walk([&](ModuleOp nested) {
      inferences.push_back(std::make_unique<Inference>(nested));
    });
    eraseEncodings(module);
    for (auto &inference : inferences)
      if (failed(inference->run()))
        return signalPassFailure();
  }
};
} // namespace

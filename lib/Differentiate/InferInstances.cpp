//===- InferInstances.cpp - Functions and the roots they are needed with --===//
//
// Step (1) of the inference, see Inference.h.
//
//===----------------------------------------------------------------------===//

#include "Analysis/CarriesGradient.h"
#include "CustomRules.h"
#include "Differentiate/Inference.h"

using namespace mlir;
using namespace mlir::grad;

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
    return isa<func::CallOp, VjpOp, JvpOp, VmapOp>(use.getUser());
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
  // With a custom rule every result depends on every argument.
  if (CustomRule(instance.origin) && instance.roots.any())
    for (auto [index, type] : llvm::enumerate(instance.origin.getResultTypes()))
      if (isDifferentiableType(type))
        instance.results.set(index);
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

/// The instance that `op` calls or transforms, or null for any other op.
FailureOr<Instance *> Inference::getCallee(Operation *op,
                                           const GradientAnalysis &analysis) {
  func::FuncOp function;
  llvm::BitVector roots;
  if (isa<func::CallOp, VmapOp>(op)) {
    function =
        lookup(op->getAttrOfType<FlatSymbolRefAttr>("callee").getValue());
    roots.resize(op->getNumOperands());
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
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

/// A function pointer has the plain type of the function.
LogicalResult Inference::checkFunctionPointers() {
  WalkResult result = module.walk([&](func::ConstantOp op) {
    func::FuncOp function = lookup(op.getValue());
    if (!function || ownRoots[function].none())
      return WalkResult::advance();
    op.emitOpError("takes the address of '")
        << op.getValue()
        << "', whose arguments require a gradient; call it directly";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

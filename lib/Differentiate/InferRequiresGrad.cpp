//===- InferRequiresGrad.cpp - Write requires_grad types ------------------===//
//
// Steps (2) and (3) of the inference, see Inference.h.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/Encodings.h"
#include "Differentiate/Inference.h"
#include "Differentiate/LowerRegions.h"
#include "Differentiate/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_INFERREQUIRESGRADPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// (2) Functions for the instances
//===----------------------------------------------------------------------===//

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
  // What the analysis of the body does not say, but that of the call does.
  SmallVector<Type> results(function.getResultTypes());
  function.walk([&](func::ReturnOp op) {
    for (unsigned index : instance.results.set_bits()) {
      convertOperand(op->getOpOperand(index), /*requiresGrad=*/true);
      results[index] = withRequiresGrad(results[index], true);
    }
  });
  function.setType(
      function.cloneTypeWith(function.getArgumentTypes(), results));
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
  if (failed(checkFunctionPointers()))
    return failure();
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

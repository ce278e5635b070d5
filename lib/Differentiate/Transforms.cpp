//===- Transforms.cpp - Expansion of vjp, jvp and vmap --------------------===//

#include "Differentiate/Transforms.h"

#include "Analysis/CarriesGradient.h"
#include "Analysis/GradientAnalysis.h"
#include "Batch/BatchFunction.h"
#include "CustomRules.h"
#include "Differentiate/Encodings.h"
#include "Rules/BlockJvp.h"
#include "Rules/BlockVjp.h"
#include "Rules/Checkpoint.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

OperandRange mlir::grad::getReturned(func::FuncOp func) {
  return func.getBody().front().getTerminator()->getOperands();
}

std::string mlir::grad::describeArgument(BlockArgument argument) {
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  if (func)
    if (auto name = func.getArgAttrOfType<StringAttr>(number, kNameArg))
      return ("argument '" + name.getValue() + "'").str();
  return "argument " + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Plain copies
//===----------------------------------------------------------------------===//

/// Refuses functions that differentiation cannot take apart.
static LogicalResult checkDifferentiable(Operation *user, func::FuncOp callee) {
  StringRef verb = isa<VmapOp>(user) ? "batch" : "differentiate";
  if (callee.isExternal()) {
    InFlightDiagnostic diag = user->emitOpError("needs the body of '")
                              << callee.getName() << "' to " << verb << " it";
    diag.attachNote(callee.getLoc()) << "declared without a body here";
    return diag;
  }
  if (!callee.getBody().hasOneBlock()) {
    InFlightDiagnostic diag = user->emitOpError("cannot ")
                              << verb << " '" << callee.getName()
                              << "': it has unstructured control flow";
    diag.attachNote(callee.getLoc()) << "use scf.if, scf.for or scf.while";
    return diag;
  }
  return success();
}

/// Replaces `call` by the body of `callee`.
static void inlineCall(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.getBody().front().without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call.getLoc()));
    });
  }
  for (auto [result, value] : llvm::zip(call.getResults(), getReturned(callee)))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
}

LogicalResult TransformExpander::inlineCalls(func::FuncOp func) {
  // Each pending call comes with the callees it was reached through.
  using Pending = std::pair<func::CallOp, SmallVector<StringRef>>;
  SmallVector<Pending> pending;
  func.walk([&](func::CallOp call) { pending.push_back({call, {}}); });
  while (!pending.empty()) {
    auto [call, path] = pending.pop_back_val();
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee)
      return call.emitOpError("calls '")
             << call.getCallee() << "', which is not a function";
    if (CustomRule(callee))
      continue;
    if (failed(checkDifferentiable(call, callee)))
      return failure();
    if (llvm::is_contained(path, callee.getName())) {
      InFlightDiagnostic diag = call.emitOpError("cannot be differentiated: '")
                                << callee.getName() << "' calls itself";
      diag.attachNote(callee.getLoc()) << "write the recursion as a loop";
      return diag;
    }
    path.push_back(callee.getName());
    Operation *before = call->getPrevNode();
    Block *block = call->getBlock();
    Operation *after = call->getNextNode();
    inlineCall(call, callee);
    auto begin = before ? std::next(before->getIterator()) : block->begin();
    for (Operation &op : llvm::make_range(begin, after->getIterator()))
      op.walk([&](func::CallOp inner) { pending.push_back({inner, path}); });
  }
  return success();
}

/// Replaces the body of `func` by a call of `callee`, which has its type.
static void callInstead(func::FuncOp func, func::FuncOp callee) {
  func.getBody().getBlocks().clear();
  OpBuilder builder = OpBuilder::atBlockEnd(func.addEntryBlock());
  auto call = func::CallOp::create(builder, callee.getLoc(), callee,
                                   func.getArguments());
  func::ReturnOp::create(builder, callee.getLoc(), call.getResults());
}

FailureOr<func::FuncOp> TransformExpander::prepare(func::FuncOp callee,
                                                   StringRef suffix,
                                                   bool useRule) {
  bool isCustom = useRule && CustomRule(callee);
  if (!isCustom && failed(checkDifferentiable(callee, callee)))
    return failure();
  func::FuncOp copy = callee.clone();
  copy.setPrivate();
  copy.setName((callee.getName() + suffix).str());
  CustomRule::remove(copy);
  symbols.insert(copy);
  if (isCustom)
    callInstead(copy, callee);
  eraseEncodings(copy);
  if (failed(flatten(copy))) {
    symbols.erase(copy);
    return failure();
  }
  return copy;
}

LogicalResult TransformExpander::flatten(func::FuncOp func) {
  if (failed(inlineCalls(func)) || failed(expandAll(func)))
    return failure();
  return inlineCalls(func);
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

namespace {
/// Counts what the rules create.
struct CreationCounter : OpBuilder::Listener {
  int64_t count = 0;
  void notifyOperationInserted(Operation *,
                               OpBuilder::InsertPoint previous) override {
    if (!previous.isSet())
      ++count;
  }
};
} // namespace

/// Notes that show why a gradient has to pass through `op`: the way back to an
/// argument, nearest op first.
static void notePath(Operation *op, const GradientAnalysis &analysis,
                     Diagnostic &diag) {
  constexpr int kMaxSteps = 8;
  Operation *current = op;
  for (int step = 0; current; ++step) {
    // Inside the body of a structured op, go on from the op itself.
    while (current->getBlock()->getParentOp() &&
           !isa<func::FuncOp>(current->getBlock()->getParentOp()))
      current = current->getBlock()->getParentOp();
    llvm::SetVector<Value> inputs = getInputsOfRegionOp(current);
    auto source = llvm::find_if(
        inputs, [&](Value input) { return analysis.requiresGrad(input); });
    if (source == inputs.end())
      return;
    if (auto argument = dyn_cast<BlockArgument>(*source)) {
      diag.attachNote(argument.getLoc())
          << "requires a gradient because it depends on "
          << describeArgument(argument);
      return;
    }
    Operation *next = (*source).getDefiningOp();
    if (step < kMaxSteps)
      diag.attachNote(next->getLoc())
          << "through '" << next->getName() << "' here";
    current = next;
  }
}

/// Returned values that have a cotangent or tangent.
static SmallVector<Value> getOutputs(func::FuncOp func) {
  return llvm::to_vector(
      llvm::make_filter_range(getReturned(func), [](Value value) {
        return isDifferentiableType(value.getType());
      }));
}

/// True for ops whose rules take tensors of dynamic shape.
static bool takesDynamicShapes(Operation *op) {
  return isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp, RegionBranchOpInterface>(op);
}

/// Refuses to differentiate through values that have no zero, such as tensors
/// of dynamic shape, where a rule may ask for one, and what is in the regions
/// of control flow and has no rule.
static LogicalResult checkOps(func::FuncOp func, ArrayRef<Value> roots,
                              ArrayRef<Value> outputs,
                              const GradientAnalysis &analysis) {
  auto isRefused = [](Value value) {
    return isDifferentiableType(value.getType()) && !hasZeros(value.getType());
  };
  auto check = [&](Operation *op) -> LogicalResult {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return analysis.needsGradient(result);
        }))
      return success();
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    auto refused = llvm::find_if(values, [&](Value value) {
      return isRefused(value) &&
             !(takesDynamicShapes(op) && hasZerosLike(value.getType()));
    });
    if (refused != values.end())
      return op->emitOpError("has no derivative rule for values of type ")
             << refused->getType();
    if (isa<func::FuncOp>(op->getParentOp()) ||
        isa<DifferentiableOpInterface>(op) ||
        llvm::none_of(getInputsOfRegionOp(op), [&](Value value) {
          return analysis.requiresGrad(value);
        }))
      return success();
    return emitNoDerivativeRule(op, [&](Operation *op, Diagnostic &diag) {
      notePath(op, analysis, diag);
    });
  };
  WalkResult result =
      func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (failed(check(op)))
          return WalkResult::interrupt();
        return isa<RegionBranchOpInterface>(op) ? WalkResult::advance()
                                                : WalkResult::skip();
      });
  if (result.wasInterrupted())
    return failure();
  for (ArrayRef<Value> values : {roots, outputs}) {
    auto refused = llvm::find_if(values, isRefused);
    if (refused != values.end())
      return emitError(refused->getLoc())
             << "a value of type " << refused->getType()
             << " has no derivative rule";
  }
  return success();
}

/// Makes `func` return `returned`; arguments may have been added.
static void setReturned(func::FuncOp func, ValueRange returned) {
  Block &block = func.getBody().front();
  SmallVector<DictionaryAttr> attributes;
  func.getAllArgAttrs(attributes);
  attributes.resize(block.getNumArguments(),
                    DictionaryAttr::get(func.getContext()));
  block.getTerminator()->setOperands(returned);
  func.setResAttrsAttr({});
  func.setType(FunctionType::get(func.getContext(), block.getArgumentTypes(),
                                 returned.getTypes()));
  func.setAllArgAttrs(attributes);
}

namespace {
/// What a derivative of a function is built from: its ops, and what the
/// analysis says of them for the differentiated arguments.
struct Derivation {
  static FailureOr<Derivation> prepare(func::FuncOp func,
                                       ArrayRef<int64_t> wrt) {
    Derivation result;
    Block &block = func.getBody().front();
    for (int64_t number : wrt)
      result.roots.push_back(block.getArgument(number));
    result.outputs = getOutputs(func);
    FailureOr<GradientAnalysis> analysis =
        GradientAnalysis::compute(func, result.roots, result.outputs);
    if (failed(analysis) ||
        failed(checkOps(func, result.roots, result.outputs, *analysis)))
      return failure();
    result.analysis = std::make_shared<GradientAnalysis>(std::move(*analysis));
    // What reaches no output needs no derivative, nor a rule.
    for (Operation &op : block.without_terminator())
      if (llvm::any_of(op.getResults(), result.needs()))
        result.ops.push_back(&op);
    return result;
  }

  std::function<bool(Value)> needs() const {
    return [analysis = analysis](Value value) {
      return analysis->needsGradient(value);
    };
  }

  std::function<void(Operation *, Diagnostic &)> explain() const {
    return [analysis = analysis](Operation *op, Diagnostic &diag) {
      notePath(op, *analysis, diag);
    };
  }

  SmallVector<Value> roots, outputs;
  std::shared_ptr<GradientAnalysis> analysis;
  SmallVector<Operation *> ops;
};
} // namespace

/// Makes `func` return `derivatives` too; those that are null are zeros of the
/// type of the value in `of`.
static void returnDerivatives(func::FuncOp func, OpBuilder &builder,
                              ArrayRef<Value> of, ArrayRef<Value> derivatives) {
  SmallVector<Value> returned(getReturned(func));
  for (auto [value, derivative] : llvm::zip_equal(of, derivatives))
    returned.push_back(derivative
                           ? derivative
                           : zeros(builder, value.getLoc(), value.getType()));
  setReturned(func, returned);
}

LogicalResult TransformExpander::buildVjp(func::FuncOp func,
                                          ArrayRef<int64_t> wrt) {
  if (failed(applyCheckpointPolicies(func)))
    return failure();
  FailureOr<Derivation> derivation = Derivation::prepare(func, wrt);
  if (failed(derivation))
    return failure();
  Block &block = func.getBody().front();
  CreationCounter counter;
  OpBuilder builder(block.getTerminator(), &counter);
  BlockVjp reverse(builder, derivation->needs(), derivation->explain());
  for (Value output : derivation->outputs)
    reverse.accumulate(output,
                       block.addArgument(output.getType(), output.getLoc()));
  if (failed(reverse.run(derivation->ops)))
    return failure();
  SmallVector<Value> gradients;
  for (Value root : derivation->roots)
    gradients.push_back(reverse.cotangent(root));
  returnDerivatives(func, builder, derivation->roots, gradients);
  numCreated += counter.count;
  return success();
}

LogicalResult TransformExpander::buildJvp(func::FuncOp func,
                                          ArrayRef<int64_t> wrt) {
  FailureOr<Derivation> derivation = Derivation::prepare(func, wrt);
  if (failed(derivation))
    return failure();
  Block &block = func.getBody().front();
  CreationCounter counter;
  OpBuilder builder(block.getTerminator(), &counter);
  BlockJvp forward(builder, /*outer=*/nullptr, derivation->needs(),
                   derivation->explain());
  for (Value root : derivation->roots)
    forward.setTangent(root, block.addArgument(root.getType(), root.getLoc()));
  if (failed(forward.run(derivation->ops)))
    return failure();
  SmallVector<Value> tangents;
  for (Value output : derivation->outputs)
    tangents.push_back(forward.tangent(output));
  returnDerivatives(func, builder, derivation->outputs, tangents);
  numCreated += counter.count;
  return success();
}

FailureOr<func::FuncOp> TransformExpander::getFunction(Operation *transform) {
  auto vjp = dyn_cast<VjpOp>(transform);
  auto vmap = dyn_cast<VmapOp>(transform);
  StringRef name =
      transform->getAttrOfType<FlatSymbolRefAttr>("callee").getValue();
  auto callee = symbols.lookup<func::FuncOp>(name);
  if (!callee)
    return transform->emitOpError("callee '") << name << "' is not a function";
  // What is done to the callee: its kind is the suffix of the new name.
  StringRef suffix = vjp ? ".vjp" : vmap ? ".vmap" : ".jvp";
  Key key{callee,
          {StringAttr::get(transform->getContext(), suffix),
           vmap ? transform->getAttrDictionary() : transform->getAttr("wrt")}};
  if (func::FuncOp made = functions.lookup(key))
    return made;
  // A batched function has a custom rule of its own; the others use one.
  bool isCustom = static_cast<bool>(CustomRule(callee));
  if ((vmap || !isCustom) && failed(checkDifferentiable(transform, callee)))
    return failure();
  if (llvm::is_contained(active, callee.getNameAttr()))
    return transform->emitOpError(vmap ? "batches '" : "differentiates '")
           << name << "', which contains it";
  active.push_back(callee.getNameAttr());
  auto wrt = transform->getAttrOfType<DenseI64ArrayAttr>("wrt");
  FailureOr<func::FuncOp> func = prepare(callee, suffix, /*useRule=*/!vmap);
  if (vmap && succeeded(func))
    dissolveCheckpoints(*func);
  LogicalResult built = failed(func) ? failure()
                        : vmap       ? batchFunction(*func, vmap)
                        : vjp        ? buildVjp(*func, wrt)
                                     : buildJvp(*func, wrt);
  // Custom rules leave calls and transforms of their functions.
  if (succeeded(built))
    built = flatten(*func);
  active.pop_back();
  if (succeeded(built)) {
    functions[key] = *func;
    // The rule may call the function that it belongs to.
    if (vmap && isCustom)
      built = batchCustomRule(callee, *func, vmap);
  }
  if (failed(built)) {
    functions.erase(key);
    if (succeeded(func))
      symbols.erase(*func);
    return failure();
  }
  return *func;
}

LogicalResult TransformExpander::expandAll(Operation *root) {
  SmallVector<Operation *> transforms;
  root->walk([&](Operation *op) {
    if (isa<VjpOp, JvpOp, VmapOp>(op))
      transforms.push_back(op);
  });
  for (Operation *transform : transforms) {
    FailureOr<func::FuncOp> func = getFunction(transform);
    if (failed(func))
      return failure();
    OpBuilder builder(transform);
    auto call = func::CallOp::create(builder, transform->getLoc(), *func,
                                     transform->getOperands());
    transform->replaceAllUsesWith(call.getResults());
    transform->erase();
  }
  return success();
}

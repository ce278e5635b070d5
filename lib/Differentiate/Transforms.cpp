//===- Transforms.cpp - Expansion of vjp, jvp and vmap --------------------===//

#include "Differentiate/Transforms.h"

#include "Batch/BatchFunction.h"
#include "CustomRules.h"
#include "Differentiate/Derivation.h"
#include "Differentiate/Encodings.h"
#include "Rules/Checkpoint.h"
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

LogicalResult TransformExpander::derive(func::FuncOp func,
                                        ArrayRef<int64_t> wrt, bool isVjp) {
  FailureOr<int64_t> created =
      isVjp ? buildVjp(func, wrt) : buildJvp(func, wrt);
  if (succeeded(created))
    numCreated += *created;
  return created;
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
                                     : derive(*func, wrt, vjp);
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

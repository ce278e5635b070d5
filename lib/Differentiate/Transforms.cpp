//===- Transforms.cpp - Expansion of vjp and jvp --------------------------===//

#include "Differentiate/Transforms.h"

#include "Analysis/GradientAnalysis.h"
#include "Differentiate/Encodings.h"
#include "Rules/BlockVjp.h"
#include "Rules/TensorUtils.h"
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
  if (callee.isExternal()) {
    InFlightDiagnostic diag = user->emitOpError("needs the body of '")
                              << callee.getName() << "' to differentiate it";
    diag.attachNote(callee.getLoc()) << "declared without a body here";
    return diag;
  }
  if (!callee.getBody().hasOneBlock()) {
    InFlightDiagnostic diag = user->emitOpError("cannot differentiate '")
                              << callee.getName()
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

FailureOr<func::FuncOp> TransformExpander::prepare(func::FuncOp callee,
                                                   StringRef suffix) {
  func::FuncOp copy = callee.clone();
  copy.setPrivate();
  copy.setName((callee.getName() + suffix).str());
  symbols.insert(copy);
  auto give_up = [&]() -> FailureOr<func::FuncOp> {
    symbols.erase(copy);
    return failure();
  };
  eraseEncodings(copy);
  if (failed(inlineCalls(copy)) || failed(expandAll(copy)) ||
      failed(inlineCalls(copy)))
    return give_up();
  return copy;
}

//===----------------------------------------------------------------------===//
// Reverse mode
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
    auto source = llvm::find_if(current->getOperands(), [&](Value operand) {
      return analysis.requiresGrad(operand);
    });
    if (source == current->operand_end())
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

FailureOr<func::FuncOp> TransformExpander::getVjp(VjpOp op) {
  auto callee = symbols.lookup<func::FuncOp>(op.getCallee());
  if (!callee)
    return op.emitOpError("callee '")
           << op.getCallee() << "' is not a function";
  auto key = std::make_pair(callee.getOperation(), op->getAttr("wrt"));
  if (func::FuncOp made = vjps.lookup(key))
    return made;
  if (failed(checkDifferentiable(op, callee)))
    return failure();
  if (llvm::is_contained(active, callee.getNameAttr()))
    return op.emitOpError("differentiates '")
           << callee.getName() << "', which contains it";
  active.push_back(callee.getNameAttr());
  FailureOr<func::FuncOp> prepared = prepare(callee, ".vjp");
  active.pop_back();
  if (failed(prepared))
    return failure();
  func::FuncOp func = *prepared;
  auto give_up = [&]() -> FailureOr<func::FuncOp> {
    symbols.erase(func);
    return failure();
  };

  Block &block = func.getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Value> roots, outputs;
  for (int64_t number : op.getWrt())
    roots.push_back(block.getArgument(number));
  for (Value value : terminator->getOperands())
    if (isDifferentiableType(value.getType()))
      outputs.push_back(value);
  FailureOr<GradientAnalysis> analysis =
      GradientAnalysis::compute(func, roots, outputs);
  if (failed(analysis))
    return give_up();

  SmallVector<Operation *> ops;
  for (Operation &inner : block.without_terminator())
    ops.push_back(&inner);
  CreationCounter counter;
  OpBuilder builder(terminator);
  builder.setListener(&counter);
  BlockVjp reverse(
      builder, [&](Value value) { return analysis->needsGradient(value); },
      [&](Operation *inner, Diagnostic &diag) {
        notePath(inner, *analysis, diag);
      });
  SmallVector<Type> argumentTypes(block.getArgumentTypes());
  SmallVector<DictionaryAttr> argumentAttrs;
  func.getAllArgAttrs(argumentAttrs);
  for (Value output : outputs) {
    Value cotangent = block.addArgument(output.getType(), output.getLoc());
    argumentTypes.push_back(output.getType());
    reverse.accumulate(output, cotangent);
  }
  if (failed(reverse.run(ops)))
    return give_up();

  SmallVector<Value> returned(terminator->getOperands());
  for (Value root : roots) {
    Value gradient = reverse.cotangent(root);
    returned.push_back(gradient ? gradient
                                : zeros(builder, op.getLoc(), root.getType()));
  }
  numCreated += counter.count;
  terminator->setOperands(returned);
  func.setResAttrsAttr({});
  argumentAttrs.resize(argumentTypes.size(),
                       DictionaryAttr::get(func.getContext()));
  func.setType(FunctionType::get(func.getContext(), argumentTypes,
                                 ValueRange(returned).getTypes()));
  func.setAllArgAttrs(argumentAttrs);
  vjps[key] = func;
  return func;
}

LogicalResult TransformExpander::expandAll(Operation *root) {
  SmallVector<Operation *> transforms;
  root->walk([&](Operation *op) {
    if (isa<VjpOp, JvpOp>(op))
      transforms.push_back(op);
  });
  for (Operation *transform : transforms) {
    auto op = dyn_cast<VjpOp>(transform);
    if (!op)
      return transform->emitOpError("is not supported by differentiation");
    FailureOr<func::FuncOp> func = getVjp(op);
    if (failed(func))
      return failure();
    OpBuilder builder(op);
    SmallVector<Value> operands(op.getPrimals());
    llvm::append_range(operands, op.getCotangents());
    auto call = func::CallOp::create(builder, op.getLoc(), *func, operands);
    op->replaceAllUsesWith(call.getResults());
    op->erase();
  }
  return success();
}

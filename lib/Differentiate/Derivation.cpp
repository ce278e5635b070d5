//===- Derivation.cpp - The derivative of one function --------------------===//

#include "Differentiate/Derivation.h"

#include "Analysis/CarriesGradient.h"
#include "Analysis/GradientAnalysis.h"
#include "Differentiate/Transforms.h"
#include "Rules/BlockJvp.h"
#include "Rules/BlockVjp.h"
#include "Rules/Checkpoint.h"
#include "Rules/TensorUtils.h"

using namespace mlir;
using namespace mlir::grad;

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

/// Refuses to differentiate through values that have no zero, such as tensors
/// without a rank, where a rule may ask for one, and what is in the regions of
/// control flow and has no rule.
static LogicalResult checkOps(func::FuncOp func, ArrayRef<Value> roots,
                              ArrayRef<Value> outputs,
                              const GradientAnalysis &analysis) {
  auto isRefused = [](Value value) {
    return isDifferentiableType(value.getType()) &&
           !hasZerosLike(value.getType());
  };
  auto check = [&](Operation *op) -> LogicalResult {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return analysis.needsGradient(result);
        }))
      return success();
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    auto refused = llvm::find_if(values, isRefused);
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
/// What both modes build a derivative from: the ops of a function, what the
/// analysis says of them for the differentiated arguments, and the place where
/// the derivative goes.
class Derivation {
public:
  explicit Derivation(func::FuncOp func)
      : func(func), block(func.getBody().front()),
        builder(block.getTerminator(), &counter) {}

  LogicalResult prepare(ArrayRef<int64_t> wrt);

  /// Adds an argument for each of `values`, and tells `seed`.
  void addArguments(ArrayRef<Value> values,
                    llvm::function_ref<void(Value, Value)> seed) {
    for (Value value : values)
      seed(value, block.addArgument(value.getType(), value.getLoc()));
  }

  /// Makes the function return the derivatives of `values` too; those that are
  /// null are zeros. Returns the number of ops created.
  int64_t finish(ArrayRef<Value> values,
                 llvm::function_ref<Value(Value)> getDerivative);

  std::function<bool(Value)> needs() const {
    return [this](Value value) { return analysis->needsGradient(value); };
  }
  std::function<void(Operation *, Diagnostic &)> explain() const {
    return [this](Operation *op, Diagnostic &diag) {
      notePath(op, *analysis, diag);
    };
  }

private:
  func::FuncOp func;
  Block &block;
  CreationCounter counter;
  std::optional<GradientAnalysis> analysis;

public:
  OpBuilder builder;
  SmallVector<Value> roots, outputs;
  SmallVector<Operation *> ops;
};
} // namespace

LogicalResult Derivation::prepare(ArrayRef<int64_t> wrt) {
  for (int64_t number : wrt)
    roots.push_back(block.getArgument(number));
  outputs = getOutputs(func);
  FailureOr<GradientAnalysis> computed =
      GradientAnalysis::compute(func, roots, outputs);
  if (failed(computed) || failed(checkOps(func, roots, outputs, *computed)))
    return failure();
  analysis.emplace(std::move(*computed));
  // What reaches no output needs no derivative, nor a rule.
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(), needs()))
      ops.push_back(&op);
  return success();
}

int64_t Derivation::finish(ArrayRef<Value> values,
                           llvm::function_ref<Value(Value)> getDerivative) {
  SmallVector<Value> returned(getReturned(func));
  for (Value value : values) {
    Value derivative = getDerivative(value);
    returned.push_back(derivative ? derivative
                                  : zerosLike(builder, value.getLoc(), value));
  }
  setReturned(func, returned);
  return counter.count;
}

FailureOr<int64_t> mlir::grad::buildVjp(func::FuncOp func,
                                        ArrayRef<int64_t> wrt) {
  Derivation derivation(func);
  if (failed(applyCheckpointPolicies(func)) || failed(derivation.prepare(wrt)))
    return failure();
  BlockVjp reverse(derivation.builder, derivation.needs(),
                   derivation.explain());
  derivation.addArguments(derivation.outputs, [&](Value output, Value given) {
    reverse.accumulate(output, given);
  });
  if (failed(reverse.run(derivation.ops)))
    return failure();
  return derivation.finish(derivation.roots,
                           [&](Value root) { return reverse.cotangent(root); });
}

FailureOr<int64_t> mlir::grad::buildJvp(func::FuncOp func,
                                        ArrayRef<int64_t> wrt) {
  Derivation derivation(func);
  if (failed(derivation.prepare(wrt)))
    return failure();
  BlockJvp forward(derivation.builder, /*outer=*/nullptr, derivation.needs(),
                   derivation.explain());
  derivation.addArguments(derivation.roots, [&](Value root, Value given) {
    forward.setTangent(root, given);
  });
  if (failed(forward.run(derivation.ops)))
    return failure();
  return derivation.finish(derivation.outputs, [&](Value output) {
    return forward.tangent(output);
  });
}

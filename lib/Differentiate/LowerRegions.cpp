//===- LowerRegions.cpp - no_grad and enable_grad regions -----------------===//

#include "Differentiate/LowerRegions.h"

#include "Analysis/CarriesGradient.h"
#include "CustomRules.h"
#include "Differentiate/FormCheckpoints.h"
#include "Differentiate/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LOWERREGIONSPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// True when the body of `function` is one `grad.no_grad` and its return.
static bool isNoGradFunction(func::FuncOp function) {
  Block &block = function.getBody().front();
  if (!function.getBody().hasOneBlock() || block.getOperations().size() != 2)
    return false;
  auto region = dyn_cast<NoGradOp>(block.front());
  return region &&
         llvm::equal(region.getResults(), block.getTerminator()->getOperands());
}

/// Moves the body of `function` into a `grad.no_grad`. A body of several blocks
/// goes into an `scf.execute_region` in there.
static void wrapInNoGrad(func::FuncOp function) {
  Location loc = function.getLoc();
  Region &body = function.getBody();
  Block *oldEntry = &body.front();
  Block *entry = new Block();
  for (BlockArgument argument : oldEntry->getArguments())
    argument.replaceAllUsesWith(
        entry->addArgument(argument.getType(), argument.getLoc()));
  oldEntry->eraseArguments(0, oldEntry->getNumArguments());

  OpBuilder builder(function.getContext());
  builder.setInsertionPointToEnd(entry);
  TypeRange types = function.getResultTypes();
  auto noGrad = NoGradOp::create(builder, loc, types);
  func::ReturnOp::create(builder, loc, noGrad.getResults());
  SmallVector<func::ReturnOp> returns(body.getOps<func::ReturnOp>());
  if (body.hasOneBlock()) {
    noGrad.getBody().takeBody(body);
    builder.setInsertionPoint(returns.front());
    YieldOp::create(builder, loc, returns.front().getOperands());
    returns.front().erase();
  } else {
    builder.createBlock(&noGrad.getBody());
    auto execute = scf::ExecuteRegionOp::create(builder, loc, types);
    YieldOp::create(builder, loc, execute.getResults());
    execute.getRegion().takeBody(body);
    for (func::ReturnOp op : returns) {
      builder.setInsertionPoint(op);
      scf::YieldOp::create(builder, op.getLoc(), op.getOperands());
      op.erase();
    }
  }
  body.push_back(entry);
}

void mlir::grad::specializeCallsUnderNoGrad(ModuleOp module) {
  SymbolTable symbolTable(module);
  DenseMap<Operation *, func::FuncOp> clones;
  SmallVector<func::CallOp> worklist;
  module.walk([&](func::CallOp call) {
    if (SymbolTable::getNearestSymbolTable(call) == module)
      worklist.push_back(call);
  });
  for (size_t i = 0; i < worklist.size(); ++i) {
    func::CallOp call = worklist[i];
    auto callee = symbolTable.lookup<func::FuncOp>(call.getCallee());
    if (!isUnderNoGrad(call) || !callee || callee.isExternal() ||
        isNoGradFunction(callee))
      continue;
    func::FuncOp &clone = clones[callee];
    if (!clone) {
      clone = callee.clone();
      clone.setName((callee.getName() + ".no_grad").str());
      clone.setPrivate();
      // A rule would bring the gradient back.
      CustomRule::remove(clone);
      for (unsigned arg = 0, e = clone.getNumArguments(); arg < e; ++arg)
        clone.removeArgAttr(arg, kRequiresGradArg);
      symbolTable.insert(clone, std::next(Block::iterator(callee)));
      wrapInNoGrad(clone);
      clone.walk([&](func::CallOp nested) { worklist.push_back(nested); });
    }
    call.setCallee(clone.getName());
  }
  for (auto [callee, clone] : clones)
    if (SymbolTable::getSymbolVisibility(callee) ==
            SymbolTable::Visibility::Private &&
        SymbolTable::symbolKnownUseEmpty(callee, module))
      symbolTable.erase(callee);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// Puts `grad.stop_gradient` in front of what ops under `grad.no_grad` read.
class OperandStopper {
public:
  void run(ModuleOp module) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The ops of a combining terminator are taken one by one.
      if (isa<InParallelOpInterface>(op) ||
          (!readsStoppedOperands(op) && !isUnknownCallUnderNoGrad(op)))
        return WalkResult::advance();
      stopOperands(op);
      return WalkResult::skip();
    });
  }

private:
  /// A call whose callee has not been told of the mode.
  static bool isUnknownCallUnderNoGrad(Operation *op) {
    if (!isa<CallOpInterface>(op) || !isUnderNoGrad(op))
      return false;
    auto call = dyn_cast<func::CallOp>(op);
    auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             call, call.getCalleeAttr())
                       : func::FuncOp();
    return !callee || callee.isExternal() || !isNoGradFunction(callee);
  }

  void stopOperands(Operation *op) {
    if (op->getNumResults() != 0 && op->getNumRegions() == 0 &&
        llvm::none_of(op->getResultTypes(), isDifferentiableType))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      // The destination is an argument of the loop and has to stay one.
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
      if (!insert || &operand != &insert.getDestMutable())
        operand.set(getStopped(operand.get(), op));
    }
    SetVector<Value> captures;
    getUsedValuesDefinedAbove(op->getRegions(), captures);
    for (Value value : captures)
      for (Region &region : op->getRegions())
        replaceAllUsesInRegionWith(value, getStopped(value, op), region);
  }

  /// `value` as an op under no_grad reads it.
  Value getStopped(Value value, Operation *op) {
    if (!isDifferentiableType(value.getType()))
      return value;
    if (Operation *definition = value.getDefiningOp())
      if (isa<StopGradientOp>(definition) || readsStoppedOperands(definition) ||
          definition->hasTrait<OpTrait::ConstantLike>())
        return value;
    // One barrier serves all ops of a region that read a value from outside.
    auto noGrad = op->getParentOfType<NoGradOp>();
    OpBuilder builder(op);
    if (noGrad->isAncestor(value.getParentBlock()->getParentOp())) {
      if (isa<InParallelOpInterface>(op->getParentOp()))
        builder.setInsertionPoint(op->getParentOp());
      return create(builder, op, value);
    }
    Value &stopped = stoppedOutside[{noGrad, value}];
    if (!stopped) {
      builder.setInsertionPoint(noGrad);
      stopped = create(builder, op, value);
    }
    return stopped;
  }

  static Value create(OpBuilder &builder, Operation *op, Value value) {
    return StopGradientOp::create(builder, op->getLoc(), value.getType(),
                                  value);
  }

  DenseMap<std::pair<Operation *, Value>, Value> stoppedOutside;
};
} // namespace

void mlir::grad::lowerGradRegions(ModuleOp module) {
  OperandStopper().run(module);
  IRRewriter rewriter(module.getContext());
  module.walk([&](Operation *op) {
    if (!isa<NoGradOp, EnableGradOp>(op))
      return;
    Block *body = &op->getRegion(0).front();
    Operation *yield = body->getTerminator();
    rewriter.inlineBlockBefore(body, op);
    rewriter.replaceOp(op, yield->getOperands());
    rewriter.eraseOp(yield);
  });
  formCheckpoints(module);
}

namespace {
struct LowerRegionsPass
    : public mlir::grad::impl::LowerRegionsPassBase<LowerRegionsPass> {
  void runOnOperation() override {
    specializeCallsUnderNoGrad(getOperation());
    lowerGradRegions(getOperation());
  }
};
} // namespace

//===- Partition.cpp - Forward and backward functions ---------------------===//
//
// Every op of a joint function belongs to one side. The results of the primal
// function decide: an op they need runs forward, and so do assertions. Every
// other op runs backward. A value of the forward side that the backward side
// reads is a residual, unless it costs nothing to make again (constants and
// fills).
//
//===----------------------------------------------------------------------===//

#include "Differentiate/Joint.h"
#include "Differentiate/Passes.h"
#include "Differentiate/Transforms.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_PARTITIONPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// Operands of `op` and values from outside that its regions read.
static SmallVector<Value> getReadValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(values, captured);
  return values;
}

/// True when computing the op again is as cheap as reading its result.
static bool isFree(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (!isa<tensor::EmptyOp, linalg::FillOp, tensor::SplatOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp() && isFree(operand.getDefiningOp());
  });
}

namespace {
class Partitioner {
public:
  explicit Partitioner(func::FuncOp joint)
      : joint(joint), block(joint.getBody().front()),
        returned(getReturned(joint)) {
    auto numbers = [&](StringRef name) {
      return joint->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
    };
    numPrimals = joint.getNumArguments() - numbers(kCotangentsAttr).size();
    numResults = returned.size() - numbers(kGradientsAttr).size();
  }

  LogicalResult run() {
    if (failed(assignSides()))
      return failure();
    StringRef name = joint.getName();
    name.consume_back(".joint");
    std::string forwardName = (name + ".forward").str(),
                backwardName = (name + ".backward").str();
    if (failed(checkNameIsFree(joint, forwardName)) ||
        failed(checkNameIsFree(joint, backwardName)))
      return failure();
    collectResiduals();
    buildForward(forwardName);
    buildBackward(backwardName);
    joint.erase();
    return success();
  }

private:
  LogicalResult assignSides();
  void collectResiduals();
  void buildForward(const std::string &name);
  void buildBackward(const std::string &name);

  /// A function beside the joint one, with its attributes.
  func::FuncOp create(const std::string &name, TypeRange inputs,
                      TypeRange results) {
    OpBuilder builder(joint);
    auto func = func::FuncOp::create(builder, joint.getLoc(), name,
                                     builder.getFunctionType(inputs, results));
    for (StringRef kept : {kCotangentsAttr, kGradientsAttr})
      func->setAttr(kept, joint->getAttr(kept));
    func.addEntryBlock();
    return func;
  }

  bool isForward(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getArgNumber() < numPrimals;
    return forward.contains(value.getDefiningOp());
  }

  func::FuncOp joint;
  Block &block;
  SmallVector<Value> returned;
  unsigned numPrimals, numResults;
  DenseSet<Operation *> forward;
  llvm::SetVector<Value> residuals;
};
} // namespace

LogicalResult Partitioner::assignSides() {
  SmallVector<Value> pending(ArrayRef<Value>(returned).take_front(numResults));
  // An assertion is about the call of the function, not about its gradient.
  DenseSet<Value> late;
  for (Value cotangent : block.getArguments().drop_front(numPrimals))
    late.insert(cotangent);
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> read = getReadValues(&op);
    if (llvm::any_of(read, [&](Value value) { return late.contains(value); })) {
      for (Value result : op.getResults())
        late.insert(result);
    } else if (!isMemoryEffectFree(&op)) {
      forward.insert(&op);
      llvm::append_range(pending, read);
    }
  }
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getArgNumber() >= numPrimals)
        return joint.emitOpError("returns a primal result that depends on a "
                                 "cotangent");
      continue;
    }
    if (forward.insert(value.getDefiningOp()).second)
      llvm::append_range(pending, getReadValues(value.getDefiningOp()));
  }
  return success();
}

void Partitioner::collectResiduals() {
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (value.getParentBlock() == &block && isForward(value) &&
        !(op && isFree(op)))
      residuals.insert(value);
  };
  for (Operation &op : block.without_terminator())
    if (!forward.contains(&op))
      llvm::for_each(getReadValues(&op), visit);
  llvm::for_each(ArrayRef<Value>(returned).drop_front(numResults), visit);
}

void Partitioner::buildForward(const std::string &name) {
  SmallVector<Value> results(ArrayRef<Value>(returned).take_front(numResults));
  for (Value residual : residuals)
    if (!isa<BlockArgument>(residual) && !llvm::is_contained(results, residual))
      results.push_back(residual);
  auto arguments = block.getArguments().take_front(numPrimals);
  func::FuncOp func = create(name, ValueRange(arguments).getTypes(),
                             ValueRange(results).getTypes());
  for (unsigned i = 0; i < numPrimals; ++i)
    func.setArgAttrs(i, joint.getArgAttrDict(i));
  IRMapping mapping;
  mapping.map(arguments, func.getArguments());
  OpBuilder builder = OpBuilder::atBlockEnd(&func.getBody().front());
  for (Operation &op : block.without_terminator())
    if (forward.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> mapped;
  for (Value value : results)
    mapped.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getLoc(), mapped);
}

void Partitioner::buildBackward(const std::string &name) {
  auto gradients = ArrayRef<Value>(returned).drop_front(numResults);
  auto cotangents = block.getArguments().drop_front(numPrimals);
  SmallVector<Type> inputs;
  SmallVector<Value> results(ArrayRef<Value>(returned).take_front(numResults));
  SmallVector<int64_t> sources;
  for (Value residual : residuals) {
    inputs.push_back(residual.getType());
    if (auto argument = dyn_cast<BlockArgument>(residual)) {
      sources.push_back(argument.getArgNumber());
      continue;
    }
    auto at = llvm::find(results, residual);
    sources.push_back(-1 - (at - results.begin()));
    if (at == results.end())
      results.push_back(residual);
  }
  llvm::append_range(inputs, ValueRange(cotangents).getTypes());
  func::FuncOp func = create(name, inputs, ValueRange(gradients).getTypes());
  OpBuilder builder = OpBuilder::atBlockEnd(&func.getBody().front());
  func->setAttr(kResidualsAttr, builder.getDenseI64ArrayAttr(sources));

  IRMapping mapping;
  for (auto [value, argument] : llvm::zip_first(residuals, func.getArguments()))
    mapping.map(value, argument);
  mapping.map(cotangents, func.getArguments().drop_front(residuals.size()));
  for (Operation &op : block.without_terminator())
    if (!forward.contains(&op) || isFree(&op))
      builder.clone(op, mapping);
  SmallVector<Value> mapped;
  for (Value value : gradients)
    mapped.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getLoc(), mapped);
}

namespace {
struct PartitionPass : grad::impl::PartitionPassBase<PartitionPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : funcs)
      if (func->hasAttr(kCotangentsAttr) && func.getName().ends_with(".joint"))
        if (failed(Partitioner(func).run()))
          return signalPassFailure();
  }
};
} // namespace

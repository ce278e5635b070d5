//===- Partition.cpp - Forward and backward functions ---------------------===//
//
// An op of a joint function that depends on a cotangent runs backward, and so
// does whatever nothing else needs. What the results of the primal function
// need runs forward, and so do assertions. The backward function reads early
// values too: each of them is a residual or is computed again from residuals,
// which ResidualCut.cpp decides. An op that is computed again stands right in
// front of the first op that needs it, so that its result does not live longer
// than a residual would. `grad.after` stays in the backward function: what a
// checkpoint computes again reads residuals alone, and fusion would pull all of
// it together otherwise.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/Joint.h"
#include "Differentiate/Passes.h"
#include "Differentiate/ResidualCut.h"
#include "Differentiate/SplitBranches.h"
#include "Differentiate/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::grad {
#define GEN_PASS_DEF_PARTITIONPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

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
    for (auto [number, op] : llvm::enumerate(block))
      order[&op] = number;
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
    chooseSaved();
    planBackward();
    for (Value residual : residuals)
      if (!getHandedType(residual))
        return joint.emitOpError("needs a value of type ")
               << residual.getType()
               << " for its gradient, which cannot be handed over to the "
                  "backward function";
    buildForward(forwardName);
    buildBackward(backwardName);
    joint.erase();
    return success();
  }

private:
  LogicalResult assignSides();
  void chooseSaved();
  void planBackward();
  void planFor(ArrayRef<Value> read);
  void buildForward(const std::string &name);
  void buildBackward(const std::string &name);

  ArrayRef<Value> getResults() const {
    return ArrayRef<Value>(returned).take_front(numResults);
  }
  ArrayRef<Value> getGradients() const {
    return ArrayRef<Value>(returned).drop_front(numResults);
  }

  /// The type in which a residual leaves the forward function. Arguments and
  /// results of the primal function are what they are.
  Type getHandedType(Value value) const {
    return isa<BlockArgument>(value) || llvm::is_contained(getResults(), value)
               ? value.getType()
               : getResidualType(value.getType());
  }

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

  /// Adds what `values` are computed from, and them, to the forward side.
  /// Returns the first cotangent that is met, or null.
  BlockArgument addForward(ArrayRef<Value> values);

  func::FuncOp joint;
  Block &block;
  SmallVector<Value> returned;
  unsigned numPrimals, numResults;
  DenseMap<Operation *, unsigned> order;
  /// Values that depend on a cotangent.
  DenseSet<Value> late;
  DenseSet<Operation *> forward;
  DenseSet<Value> saved;
  /// The saved values that are read, and the ops of the backward function in
  /// their order.
  llvm::SetVector<Value> residuals;
  llvm::SetVector<Operation *> backward;
};
} // namespace

BlockArgument Partitioner::addForward(ArrayRef<Value> values) {
  SmallVector<Value> pending(values);
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getArgNumber() >= numPrimals)
        return argument;
      continue;
    }
    if (forward.insert(value.getDefiningOp()).second)
      llvm::append_range(pending, getReadValues(value.getDefiningOp()));
  }
  return {};
}

LogicalResult Partitioner::assignSides() {
  SmallVector<Value> needed(getResults());
  for (Value cotangent : block.getArguments().drop_front(numPrimals))
    late.insert(cotangent);
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> read = getReadValues(&op);
    if (llvm::any_of(read, [&](Value value) { return late.contains(value); })) {
      late.insert(op.result_begin(), op.result_end());
    } else if (!isMemoryEffectFree(&op)) {
      // An assertion is about the call of the function, not about its gradient.
      forward.insert(&op);
      llvm::append_range(needed, read);
    }
  }
  if (addForward(needed))
    return joint.emitOpError("returns a primal result that depends on a "
                             "cotangent");
  return success();
}

void Partitioner::chooseSaved() {
  DenseSet<Value> results(getResults().begin(), getResults().end());
  ResidualProblem problem = {
      block,
      [&](Value value) { return !late.contains(value); },
      [&](Operation *op) { return forward.contains(op); },
      [&](Value value) { return results.contains(value); },
      [&](BlockArgument argument) {
        return !joint.getArgAttr(argument.getArgNumber(), kTemporaryArg);
      },
      getGradients()};
  saved = chooseResiduals(problem);
}

/// Adds the ops that compute `read` in the backward function again.
void Partitioner::planFor(ArrayRef<Value> read) {
  SmallVector<Value> pending(read);
  SmallVector<Operation *> added;
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (saved.contains(value)) {
      residuals.insert(value);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || late.contains(value) || backward.contains(op) ||
        !seen.insert(op).second)
      continue;
    added.push_back(op);
    llvm::append_range(pending, getReadValues(op));
  }
  llvm::sort(added, [&](Operation *a, Operation *b) {
    return order.lookup(a) < order.lookup(b);
  });
  backward.insert(added.begin(), added.end());
}

void Partitioner::planBackward() {
  for (Operation &op : block.without_terminator()) {
    if (forward.contains(&op) ||
        (op.getNumResults() != 0 && !late.contains(op.getResult(0))))
      continue;
    planFor(getReadValues(&op));
    backward.insert(&op);
  }
  planFor(getGradients());
}

/// `value` as one of `type`: itself, or the tensor that holds it.
static Value handOver(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, value.getLoc(),
                                       getElementTypeOrSelf(type), value);
  return tensor::FromElementsOp::create(builder, value.getLoc(), type, value);
}

/// The value of `type` that `residual` holds.
static Value takeOver(OpBuilder &builder, Value residual, Type type) {
  if (residual.getType() == type)
    return residual;
  Location loc = residual.getLoc();
  Value value = tensor::ExtractOp::create(builder, loc, residual, ValueRange());
  return type.isIndex()
             ? arith::IndexCastOp::create(builder, loc, type, value).getResult()
             : value;
}

void Partitioner::buildForward(const std::string &name) {
  SmallVector<Value> results(getResults());
  for (Value residual : residuals)
    if (!isa<BlockArgument>(residual) && !llvm::is_contained(results, residual))
      results.push_back(residual);
  addForward(residuals.getArrayRef());
  auto arguments = block.getArguments().take_front(numPrimals);
  SmallVector<Type> types;
  for (Value value : results)
    types.push_back(getHandedType(value));
  func::FuncOp func = create(name, ValueRange(arguments).getTypes(), types);
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
    mapped.push_back(
        handOver(builder, mapping.lookup(value), getHandedType(value)));
  func::ReturnOp::create(builder, joint.getLoc(), mapped);
}

void Partitioner::buildBackward(const std::string &name) {
  auto cotangents = block.getArguments().drop_front(numPrimals);
  SmallVector<Type> inputs;
  SmallVector<Value> results(getResults());
  SmallVector<int64_t> sources;
  for (Value residual : residuals) {
    inputs.push_back(getHandedType(residual));
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
  func::FuncOp func =
      create(name, inputs, ValueRange(getGradients()).getTypes());
  OpBuilder builder = OpBuilder::atBlockEnd(&func.getBody().front());
  func->setAttr(kResidualsAttr, builder.getDenseI64ArrayAttr(sources));

  IRMapping mapping;
  for (auto [value, argument] :
       llvm::zip_first(residuals, func.getArguments())) {
    argument.setLoc(value.getLoc());
    mapping.map(value, takeOver(builder, argument, value.getType()));
    auto source = dyn_cast<BlockArgument>(value);
    if (!source)
      continue;
    if (Attribute given = joint.getArgAttr(source.getArgNumber(), kNameArg))
      func.setArgAttr(argument.getArgNumber(), kNameArg, given);
  }
  mapping.map(cotangents, func.getArguments().drop_front(residuals.size()));
  for (Operation *op : backward)
    builder.clone(*op, mapping);
  SmallVector<Value> mapped;
  for (Value value : getGradients())
    mapped.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getLoc(), mapped);
}

namespace {
struct PartitionPass : grad::impl::PartitionPassBase<PartitionPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : funcs)
      if (func->hasAttr(kCotangentsAttr) &&
          func.getName().ends_with(".joint")) {
        auto cotangents =
            func->getAttrOfType<DenseI64ArrayAttr>(kCotangentsAttr);
        splitBranches(func.getBody().front(),
                      func.getArguments().take_back(cotangents.size()));
        if (failed(Partitioner(func).run()))
          return signalPassFailure();
      }
  }
};
} // namespace

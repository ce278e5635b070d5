//===- CheckpointRules.cpp - Derivatives of grad.checkpoint ---------------===//
//
// The backward pass of a region computes it again: it copies the region, reads
// its inputs through `grad.after`, and differentiates the copy. So partition
// and CSE find two computations, of which the second needs no more than the
// inputs of the first. What the policy saves are further results of the region
// (Checkpoint.h), which the copy reads instead of its own.
//
// A derivative is a `grad.checkpoint` too: at the next level of
// differentiation it is computed again in turn.
//
//===----------------------------------------------------------------------===//

#include "GradScheduleOps.h"
#include "Rules/BlockJvp.h"
#include "Rules/BlockVjp.h"
#include "Rules/Checkpoint.h"
#include "Rules/Rules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

/// True for values that cost nothing to make, which need not be awaited.
static bool isTrivial(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op));
}

namespace {
/// A copy of the body of a checkpoint, in a region without a terminator yet.
class Copy {
public:
  /// Creates the copy at the insertion point of `b` and moves it into its end.
  Copy(CheckpointOp op, OpBuilder &b, IRMapping inputs)
      : op(op), b(b), mapping(std::move(inputs)) {
    holder = CheckpointOp::create(b, op.getLoc(), TypeRange(), op.getPolicy());
    b.createBlock(&holder.getBody());
    for (Operation &inner : op.getBody().front().without_terminator()) {
      // Assertions and the like have been made by the region itself.
      if (inner.getNumResults() == 0)
        continue;
      Operation *copy = b.clone(inner, mapping);
      ops.push_back(copy);
      noteOrigins(inner, *copy);
    }
    for (auto [from, to] : mapping.getValueMap())
      origins[to] = from;
  }

  /// The copy of a value of the region, or of one that it reads.
  Value lookup(Value value) const { return mapping.lookupOrDefault(value); }

  /// The value that `copy` is a copy of.
  Value getOrigin(Value copy) const {
    Value origin = origins.lookup(copy);
    return origin ? origin : copy;
  }

  ArrayRef<Operation *> getOps() const { return ops; }

  /// Ends the region and returns a checkpoint with `yielded` as results.
  CheckpointOp finish(ValueRange yielded) {
    YieldOp::create(b, op.getLoc(), yielded);
    b.setInsertionPoint(holder);
    auto made = CheckpointOp::create(b, op.getLoc(), yielded.getTypes(),
                                     op.getPolicy());
    made.getBody().takeBody(holder.getBody());
    holder.erase();
    b.setInsertionPointAfter(made);
    return made;
  }

private:
  void noteOrigins(Operation &inner, Operation &copy) {
    for (auto [from, to] :
         llvm::zip_equal(inner.getResults(), copy.getResults()))
      origins[to] = from;
    for (auto [from, to] :
         llvm::zip_equal(inner.getRegions(), copy.getRegions()))
      for (auto [block, blockCopy] : llvm::zip_equal(from, to)) {
        for (auto [argument, argumentCopy] :
             llvm::zip_equal(block.getArguments(), blockCopy.getArguments()))
          origins[argumentCopy] = argument;
        for (auto [nested, nestedCopy] : llvm::zip_equal(block, blockCopy))
          noteOrigins(nested, nestedCopy);
      }
  }

  CheckpointOp op;
  OpBuilder &b;
  IRMapping mapping;
  CheckpointOp holder;
  SmallVector<Operation *> ops;
  DenseMap<Value, Value> origins;
};

/// Reverse mode over a copy, some of whose values are read from elsewhere: the
/// cotangent of what is read is that of the value it stands for.
class CopyVjp : public BlockVjp {
public:
  using BlockVjp::BlockVjp;

  void standFor(Value read, Value value) { values[read] = value; }

  bool needs(Value value) override { return BlockVjp::needs(resolve(value)); }

  Value cotangent(Value value) override {
    return BlockVjp::cotangent(resolve(value));
  }
  void accumulate(Value value, Value cotangent) override {
    BlockVjp::accumulate(resolve(value), cotangent);
  }
  Value takeCotangent(Value value) override {
    return BlockVjp::takeCotangent(resolve(value));
  }
  void setCotangent(Value value, Value cotangent) override {
    BlockVjp::setCotangent(resolve(value), cotangent);
  }

private:
  Value resolve(Value value) const {
    Value found = values.lookup(value);
    return found ? found : value;
  }

  DenseMap<Value, Value> values;
};
} // namespace

static YieldOp getYield(CheckpointOp op) {
  return cast<YieldOp>(op.getBody().front().getTerminator());
}

static LogicalResult emitVjp(CheckpointOp op, VjpBuilder &vjp) {
  OpBuilder &b = vjp.builder();
  OpBuilder::InsertionGuard guard(b);
  Location loc = op.getLoc();
  SmallVector<Value> awaited;
  for (Value result : op.getResults())
    if (Value cotangent = vjp.cotangent(result))
      awaited.push_back(cotangent);
  auto await = [&](Value value) -> Value {
    return AfterOp::create(b, loc, value.getType(), value, awaited);
  };

  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  IRMapping inputs;
  for (Value value : captured)
    if (!isTrivial(value))
      inputs.map(value, await(value));
  // Saved values are made available in front of the copy.
  SmallVector<std::pair<Value, Value>> saved;
  unsigned numSaved = getNumSaved(op);
  for (auto [value, result] :
       llvm::zip_equal(getYield(op).getOperands().take_back(numSaved),
                       op.getResults().take_back(numSaved)))
    saved.emplace_back(value, await(result));

  Copy copy(op, b, inputs);
  CopyVjp reverse(
      b, [&](Value value) { return vjp.needs(copy.getOrigin(value)); });
  for (auto [value, read] : saved) {
    Value computed = copy.lookup(value);
    computed.replaceAllUsesWith(read);
    reverse.standFor(read, computed);
  }
  for (auto [value, result] :
       llvm::zip_equal(getYield(op).getOperands(), op.getResults()))
    reverse.accumulate(copy.lookup(value), vjp.cotangent(result));
  if (failed(reverse.run(copy.getOps())))
    return failure();

  SmallVector<Value> targets, cotangents;
  for (Value value : captured)
    if (Value cotangent = reverse.cotangent(copy.lookup(value))) {
      targets.push_back(value);
      cotangents.push_back(cotangent);
    }
  CheckpointOp gradients = copy.finish(cotangents);
  for (auto [value, gradient] :
       llvm::zip_equal(targets, gradients.getResults()))
    vjp.accumulate(value, gradient);
  return success();
}

static LogicalResult emitJvp(CheckpointOp op, JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  OpBuilder::InsertionGuard guard(b);
  Copy copy(op, b, IRMapping());
  BlockJvp forward(
      b, &jvp, [&](Value value) { return jvp.needs(copy.getOrigin(value)); });
  if (failed(forward.run(copy.getOps())))
    return failure();
  SmallVector<Value> results, tangents;
  for (auto [value, result] :
       llvm::zip_equal(getYield(op).getOperands(), op.getResults()))
    if (Value tangent = forward.tangent(copy.lookup(value))) {
      results.push_back(result);
      tangents.push_back(tangent);
    }
  CheckpointOp derivative = copy.finish(tangents);
  for (auto [result, tangent] :
       llvm::zip_equal(results, derivative.getResults()))
    jvp.setTangent(result, tangent);
  return success();
}

namespace {
struct CheckpointModel
    : DifferentiableOpInterface::ExternalModel<CheckpointModel, CheckpointOp> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &builder) const {
    return ::emitVjp(cast<CheckpointOp>(op), builder);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &builder) const {
    return ::emitJvp(cast<CheckpointOp>(op), builder);
  }
};
} // namespace

void mlir::grad::registerCheckpointRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, GradDialect *) {
    CheckpointOp::attachInterface<CheckpointModel>(*context);
  });
}

//===- LoopDestinations.cpp - Loops write into what they carry ------------===//

#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LOOPDESTINATIONSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

/// The operand whose buffer the op that makes `value` writes to, or null.
static OpOperand *getDestination(OpResult value) {
  Operation *op = value.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getTiedLoopInit(value);
  auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
  return destinationStyle ? destinationStyle.getTiedOpOperand(value) : nullptr;
}

/// True when `value` is `destination` after a number of updates, each of
/// which nothing prevents from working in place: nobody reads what it
/// overwrites later on.
static bool isUpdateOf(Value value, Value destination) {
  while (value != destination) {
    auto result = dyn_cast<OpResult>(value);
    OpOperand *updated = result ? getDestination(result) : nullptr;
    if (!updated)
      return false;
    Operation *writer = updated->getOwner();
    for (OpOperand &use : updated->get().getUses()) {
      Operation *user =
          writer->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (&use != updated && (!user || !user->isBeforeInBlock(writer)))
        return false;
    }
    value = updated->get();
  }
  return true;
}

/// `value` in the buffer of `destination`.
static Value materialize(OpBuilder &builder, Location loc, Value value,
                         Value destination) {
  if (!isa<RankedTensorType>(value.getType()) || isUpdateOf(value, destination))
    return value;
  return bufferization::MaterializeInDestinationOp::create(
             builder, loc, value.getType(), value, destination)
      .getResult();
}

/// The value in whose buffer `value` may be: itself, or what it is a view or an
/// update of.
static Value getPlace(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    OpOperand *source = getDestination(result);
    if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
            tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::CastOp>(op))
      source = &op->getOpOperand(0);
    if (!source)
      break;
    value = source->get();
  }
  return value;
}

/// A copy of `value` in a place of its own.
static Value copyOut(OpBuilder &builder, Location loc, Value value) {
  return bufferization::AllocTensorOp::create(
      builder, loc, cast<RankedTensorType>(value.getType()),
      /*dynamicSizes=*/ValueRange(), /*copy=*/value);
}

/// A loop in a loop writes to where it starts from. If others still read what
/// the outer loop carries there, it starts from a copy.
static void copyInits(LoopLikeOpInterface loop) {
  OpBuilder builder(loop);
  for (OpOperand &init : loop.getInitsMutable()) {
    auto argument = dyn_cast<BlockArgument>(getPlace(init.get()));
    if (!isa<RankedTensorType>(init.get().getType()) || !argument ||
        !isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp()))
      continue;
    bool isLast = llvm::all_of(init.get().getUses(), [&](OpOperand &use) {
      Operation *user =
          loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return &use == &init || (user && user->isBeforeInBlock(loop));
    });
    if (!isLast)
      init.set(copyOut(builder, loop->getLoc(), init.get()));
  }
}

static void materializeFor(scf::ForOp loop) {
  copyInits(loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder builder(yield);
  // Values arrive one after the other. What is in the place of an earlier one
  // has to leave it before.
  ArrayRef<BlockArgument> arguments = loop.getRegionIterArgs();
  for (OpOperand &operand : yield->getOpOperands()) {
    if (isa<RankedTensorType>(operand.get().getType()) &&
        llvm::is_contained(arguments.take_front(operand.getOperandNumber()),
                           getPlace(operand.get())))
      operand.set(copyOut(builder, loop.getLoc(), operand.get()));
  }
  for (auto [operand, argument] :
       llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs()))
    operand.set(materialize(builder, loop.getLoc(), operand.get(), argument));
}

namespace {
/// What an `scf.while` carries, sorted: the tensors of its first region, then
/// the tensors of its second region, then the scalars of either.
struct WhileState {
  SmallVector<unsigned> beforeTensors, beforeScalars;
  SmallVector<unsigned> afterTensors, afterScalars;

  explicit WhileState(scf::WhileOp loop) {
    for (auto [i, type] : llvm::enumerate(loop.getInits().getTypes()))
      (isa<RankedTensorType>(type) ? beforeTensors : beforeScalars)
          .push_back(i);
    for (auto [i, type] : llvm::enumerate(loop.getResultTypes()))
      (isa<RankedTensorType>(type) ? afterTensors : afterScalars).push_back(i);
  }
};
} // namespace

/// Memory of its own for a tensor that `loop` hands over. That of an outer loop
/// is computed in where it is carried; an inner loop must not be, since others
/// may still be there while it runs.
static Value createPlace(OpBuilder &builder, scf::WhileOp loop,
                         RankedTensorType type) {
  if (loop->getParentOfType<LoopLikeOpInterface>())
    return bufferization::AllocTensorOp::create(builder, loop.getLoc(), type,
                                                ValueRange());
  return tensor::EmptyOp::create(builder, loop.getLoc(), type.getShape(),
                                 type.getElementType());
}

/// Gives both regions of `loop` the same tensors, each at the same position,
/// so that every one of them stays in one buffer.
static void materializeWhile(scf::WhileOp loop) {
  WhileState state(loop);
  if (state.beforeTensors.empty() && state.afterTensors.empty())
    return;
  copyInits(loop);
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  SmallVector<Value> inits;
  SmallVector<Type> results;
  for (unsigned i : state.beforeTensors)
    inits.push_back(loop.getInits()[i]);
  for (unsigned i : state.afterTensors) {
    auto type = cast<RankedTensorType>(loop.getResultTypes()[i]);
    inits.push_back(createPlace(builder, loop, type));
  }
  results = llvm::to_vector(ValueRange(inits).getTypes());
  for (unsigned i : state.beforeScalars)
    inits.push_back(loop.getInits()[i]);
  for (unsigned i : state.afterScalars)
    results.push_back(loop.getResultTypes()[i]);

  auto replacement = scf::WhileOp::create(builder, loc, results, inits);
  auto move = [&](Region &from, Region &to, TypeRange types,
                  ArrayRef<unsigned> tensors, unsigned tensorOffset,
                  ArrayRef<unsigned> scalars, unsigned scalarOffset) {
    to.takeBody(from);
    Block &block = to.front();
    unsigned old = block.getNumArguments();
    for (Type type : types)
      block.addArgument(type, loc);
    for (auto [k, i] : llvm::enumerate(tensors))
      block.getArgument(i).replaceAllUsesWith(
          block.getArgument(old + tensorOffset + k));
    for (auto [k, i] : llvm::enumerate(scalars))
      block.getArgument(i).replaceAllUsesWith(
          block.getArgument(old + scalarOffset + k));
    block.eraseArguments(0, old);
  };
  unsigned numBefore = state.beforeTensors.size();
  unsigned numTensors = numBefore + state.afterTensors.size();
  move(loop.getBefore(), replacement.getBefore(), ValueRange(inits).getTypes(),
       state.beforeTensors, 0, state.beforeScalars, numTensors);
  move(loop.getAfter(), replacement.getAfter(), results, state.afterTensors,
       numBefore, state.afterScalars, numTensors);

  Block &before = replacement.getBefore().front();
  Block &after = replacement.getAfter().front();
  auto condition = cast<scf::ConditionOp>(before.getTerminator());
  builder.setInsertionPoint(condition);
  SmallVector<Value> forwarded(before.getArguments().take_front(numBefore));
  for (auto [k, i] : llvm::enumerate(state.afterTensors))
    forwarded.push_back(materialize(builder, loc, condition.getArgs()[i],
                                    before.getArgument(numBefore + k)));
  for (unsigned i : state.afterScalars)
    forwarded.push_back(condition.getArgs()[i]);
  condition.getArgsMutable().assign(forwarded);

  auto yield = cast<scf::YieldOp>(after.getTerminator());
  builder.setInsertionPoint(yield);
  SmallVector<Value> yielded;
  for (auto [k, i] : llvm::enumerate(state.beforeTensors))
    yielded.push_back(
        materialize(builder, loc, yield.getOperand(i), after.getArgument(k)));
  for (unsigned k = numBefore; k < numTensors; ++k)
    yielded.push_back(after.getArgument(k));
  for (unsigned i : state.beforeScalars)
    yielded.push_back(yield.getOperand(i));
  yield->setOperands(yielded);

  for (auto [k, i] : llvm::enumerate(state.afterTensors))
    loop.getResult(i).replaceAllUsesWith(replacement.getResult(numBefore + k));
  for (auto [k, i] : llvm::enumerate(state.afterScalars))
    loop.getResult(i).replaceAllUsesWith(replacement.getResult(numTensors + k));
  loop.erase();
}

namespace {
struct LoopDestinationsPass
    : grad::impl::LoopDestinationsPassBase<LoopDestinationsPass> {
  void runOnOperation() override {
    // From the outside in: an inner loop has to know what the outer one keeps.
    SmallVector<scf::WhileOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](scf::WhileOp loop) { loops.push_back(loop); });
    for (scf::WhileOp loop : loops)
      materializeWhile(loop);
    getOperation().walk([](scf::ForOp loop) { materializeFor(loop); });
  }
};
} // namespace

//===- CutUpdates.cpp - Long chains of updates in pieces ------------------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir::grad {
#define GEN_PASS_DEF_CUTUPDATESPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

/// The tensor that `value` is an update of, or null.
static Value getUpdated(OpResult value) {
  Operation *op = value.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getTiedLoopInit(value)->get();
  if (!isa<linalg::LinalgOp, tensor::InsertSliceOp>(op))
    return Value();
  return cast<DestinationStyleOpInterface>(op).getTiedOpOperand(value)->get();
}

namespace {
struct CutUpdatesPass : grad::impl::CutUpdatesPassBase<CutUpdatesPass> {
  using CutUpdatesPassBase::CutUpdatesPassBase;

  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      for (OpResult result : op->getResults())
        visit(result);
    });
  }

  void visit(OpResult value) {
    Operation *op = value.getOwner();
    if (isa<tensor::EmptyOp>(op)) {
      if (value.hasOneUse())
        updates[value] = 0;
      return;
    }
    Value updated = getUpdated(value);
    if (!updated)
      return;
    if (isa<BlockArgument>(updated) || carried.contains(updated)) {
      carried.insert(value);
      return;
    }
    auto known = updates.find(updated);
    // A linalg op writes to all of its destination, so bufferization gives it
    // memory that nobody else reads afterwards.
    if (!value.hasOneUse() ||
        (known == updates.end() && !isa<linalg::LinalgOp>(op)))
      return;
    unsigned length = (known == updates.end() ? 0 : known->second) + 1;
    if (length < maxLength) {
      updates[value] = length;
      return;
    }
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.hasStaticShape())
      return;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    OpOperand &use = *value.use_begin();
    Value buffer = bufferization::ToBufferOp::create(
        builder, op->getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()), value);
    Value rest = bufferization::ToTensorOp::create(builder, op->getLoc(), type,
                                                   buffer, /*restrict=*/true,
                                                   /*writable=*/true);
    use.set(rest);
    updates[rest] = 0;
  }

  /// The number of updates behind values that are used once and alone in their
  /// memory: nothing that shares it is read any more.
  DenseMap<Value, unsigned> updates;
  /// Updates of what a loop carries. They have to stay in its buffer.
  DenseSet<Value> carried;
};
} // namespace

//===- FormCheckpoints.cpp - Regions out of marks -------------------------===//
//
// A checkpoint that comes as marks on its inputs and results is the set of ops
// that depend on an input and not on a result. What only they read (constants,
// fills) belongs to it too. The ops move into a region at the place of the last
// of them; ops in between that read a result move behind it. Where the marks do
// not enclose a set of ops that can be one region, they go without trace: a
// checkpoint changes no value.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/FormCheckpoints.h"

#include "GradScheduleOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

namespace {
/// The ops of one checkpoint in `block`.
class Marks {
public:
  Marks(Block &block, int64_t id) : block(block), id(id) {}

  /// Collects the ops; fails when they cannot become one region.
  LogicalResult collect();
  void form();

private:
  bool isEnter(Operation &op) const {
    auto enter = dyn_cast<EnterCheckpointOp>(op);
    return enter && static_cast<int64_t>(enter.getId()) == id;
  }
  bool isLeave(Operation &op) const {
    auto leave = dyn_cast<LeaveCheckpointOp>(op);
    return leave && static_cast<int64_t>(leave.getId()) == id;
  }

  bool reads(Operation &op, const llvm::DenseSet<Operation *> &set) const {
    bool found = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          found |= set.contains(definition);
    });
    return found;
  }

  Block &block;
  int64_t id;
  StringRef policy;
  llvm::DenseSet<Operation *> inside;
  /// Ops that read a result, up to the last op of the checkpoint.
  llvm::DenseSet<Operation *> behind;
  Operation *last = nullptr;
};
} // namespace

LogicalResult Marks::collect() {
  Operation *first = nullptr, *end = nullptr;
  for (Operation &op : block) {
    if (isEnter(op) && !first)
      first = &op;
    if (isLeave(op))
      end = &op;
  }
  if (!first || !end || end->isBeforeInBlock(first))
    return failure();
  policy = cast<EnterCheckpointOp>(first).getPolicy();
  for (Operation &op :
       llvm::make_range(first->getIterator(), std::next(end->getIterator()))) {
    bool readsInside = reads(op, inside), readsBehind = reads(op, behind);
    if (isLeave(op) || (readsBehind && !readsInside && !isEnter(op)))
      behind.insert(&op);
    else if (readsBehind)
      return failure();
    else if (readsInside || isEnter(op)) {
      inside.insert(&op);
      last = &op;
    }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(
           llvm::make_range(first->getIterator(), last->getIterator()))))
    if (!behind.contains(&op) && !op.use_empty() && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getUsers(), [&](Operation *user) {
          return inside.contains(block.findAncestorOpInBlock(*user));
        }))
      inside.insert(&op);
  return success();
}

void Marks::form() {
  SmallVector<Operation *> body, moved;
  for (Operation &op :
       llvm::make_range(block.begin(), std::next(last->getIterator()))) {
    if (inside.contains(&op))
      body.push_back(&op);
    else if (behind.contains(&op))
      moved.push_back(&op);
  }
  llvm::SetVector<Value> yielded;
  for (Operation *op : body)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(block.findAncestorOpInBlock(*user));
          }))
        yielded.insert(result);

  OpBuilder builder(block.getParent());
  builder.setInsertionPointAfter(last);
  auto op = CheckpointOp::create(builder, last->getLoc(),
                                 ValueRange(yielded.getArrayRef()).getTypes(),
                                 policy);
  for (Operation *next : llvm::reverse(moved))
    next->moveAfter(op);
  for (auto [value, result] : llvm::zip_equal(yielded, op.getResults()))
    Value(value).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !inside.contains(block.findAncestorOpInBlock(*use.getOwner()));
    });
  Block *region = builder.createBlock(&op.getBody());
  for (Operation *inner : body)
    inner->moveBefore(region, region->end());
  YieldOp::create(builder, op.getLoc(), yielded.getArrayRef());
}

void mlir::grad::formCheckpoints(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    // A checkpoint that is left later is around those that are left before.
    llvm::SetVector<int64_t> ids;
    func.walk([&](LeaveCheckpointOp leave) { ids.insert(leave.getId()); });
    for (int64_t id : ids) {
      Marks marks(func.getBody().front(), id);
      if (succeeded(marks.collect()))
        marks.form();
      func.walk([&](Operation *op) {
        auto enter = dyn_cast<EnterCheckpointOp>(op);
        auto leave = dyn_cast<LeaveCheckpointOp>(op);
        if ((!enter || static_cast<int64_t>(enter.getId()) != id) &&
            (!leave || static_cast<int64_t>(leave.getId()) != id))
          return;
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      });
    }
  }
}

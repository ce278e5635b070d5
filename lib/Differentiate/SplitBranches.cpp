//===- SplitBranches.cpp - Branches on both sides of a partition ----------===//

#include "Differentiate/SplitBranches.h"

#include "Differentiate/ResidualCut.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

static bool readsAny(Operation *op, const DenseSet<Value> &values) {
  return llvm::any_of(getReadValues(op),
                      [&](Value value) { return values.contains(value); });
}

/// Adds to `late` what the blocks of `branch` compute from late values.
static void addLateInside(scf::IfOp branch, DenseSet<Value> &late) {
  for (Block *block : {branch.thenBlock(), branch.elseBlock()})
    for (Operation &op : block->without_terminator())
      if (readsAny(&op, late))
        late.insert_range(op.getResults());
}

/// A branch that yields the results `numbers` of `branch`, computed from what
/// is not late.
static scf::IfOp createEarly(scf::IfOp branch, ArrayRef<unsigned> numbers,
                             const DenseSet<Value> &late) {
  OpBuilder builder(branch);
  SmallVector<Type> types;
  for (unsigned number : numbers)
    types.push_back(branch->getResult(number).getType());
  auto early = scf::IfOp::create(builder, branch.getLoc(), types,
                                 branch.getCondition(), /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
  for (auto [from, to] : llvm::zip(branch->getRegions(), early->getRegions())) {
    OpBuilder body = OpBuilder::atBlockEnd(&to.front());
    IRMapping mapping;
    for (Operation &op : from.front().without_terminator())
      if (!readsAny(&op, late))
        body.clone(op, mapping);
    Operation *yield = from.front().getTerminator();
    SmallVector<Value> yielded;
    for (unsigned number : numbers)
      yielded.push_back(mapping.lookupOrDefault(yield->getOperand(number)));
    scf::YieldOp::create(body, yield->getLoc(), yielded);
  }
  return early;
}

void mlir::grad::splitBranches(Block &block, ValueRange lateValues) {
  DenseSet<Value> late(lateValues.begin(), lateValues.end());
  for (Operation &op : block.without_terminator()) {
    if (!readsAny(&op, late))
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || late.contains(branch.getCondition()) ||
        branch.getElseRegion().empty()) {
      late.insert_range(op.getResults());
      continue;
    }
    addLateInside(branch, late);
    SmallVector<unsigned> early;
    for (OpResult result : branch.getResults()) {
      unsigned number = result.getResultNumber();
      if (late.contains(branch.thenYield().getOperand(number)) ||
          late.contains(branch.elseYield().getOperand(number)))
        late.insert(result);
      else
        early.push_back(number);
    }
    if (early.empty())
      continue;
    scf::IfOp split = createEarly(branch, early, late);
    for (auto [number, result] : llvm::zip(early, split.getResults()))
      branch.getResult(number).replaceAllUsesWith(result);
  }
}

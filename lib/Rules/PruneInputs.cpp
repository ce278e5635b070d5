//===- PruneInputs.cpp - Loop nests without what they do not read ---------===//

#include "Rules/PruneInputs.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::grad;

void mlir::grad::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// True when every loop of the nest has its extent from some operand.
static bool coversLoops(ArrayRef<AffineMap> maps, MLIRContext *context) {
  return static_cast<bool>(inversePermutation(concatAffineMaps(maps, context)));
}

linalg::GenericOp mlir::grad::pruneInputs(OpBuilder &builder,
                                          linalg::GenericOp op) {
  Block &block = op.getRegion().front();
  eraseDeadOps(block);
  unsigned numInputs = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  llvm::BitVector kept(numInputs, true);
  for (unsigned i = 0; i < numInputs; ++i) {
    if (!block.getArgument(i).use_empty())
      continue;
    kept.reset(i);
    SmallVector<AffineMap> keptMaps(llvm::drop_begin(maps, numInputs));
    for (unsigned other : kept.set_bits())
      keptMaps.push_back(maps[other]);
    if (!coversLoops(keptMaps, op.getContext()))
      kept.set(i);
  }
  if (kept.all())
    return op;

  SmallVector<Value> inputs;
  SmallVector<AffineMap> newMaps;
  llvm::BitVector dropped(block.getNumArguments());
  for (unsigned i = 0; i < numInputs; ++i) {
    if (kept.test(i)) {
      inputs.push_back(op.getInputs()[i]);
      newMaps.push_back(maps[i]);
    } else {
      dropped.set(i);
    }
  }
  llvm::append_range(newMaps, llvm::drop_begin(maps, numInputs));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto pruned = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(),
      newMaps, op.getIteratorTypesArray());
  block.eraseArguments(dropped);
  pruned.getRegion().takeBody(op.getRegion());
  op.replaceAllUsesWith(pruned.getResults());
  op.erase();
  return pruned;
}

ScatterAddOp mlir::grad::pruneInputs(OpBuilder &builder, ScatterAddOp op) {
  Block &block = op.getBody().front();
  eraseDeadOps(block);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(block.getNumArguments());
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    if (block.getArgument(number).use_empty()) {
      dropped.set(number);
      continue;
    }
    inputs.push_back(input);
    maps.push_back(
        cast<AffineMapAttr>(op.getIndexingMaps()[number]).getValue());
  }
  if (dropped.none())
    return op;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto pruned = ScatterAddOp::create(builder, op.getLoc(), inputs, op.getInit(),
                                     maps, op.getBounds());
  block.eraseArguments(dropped);
  pruned.getBody().takeBody(op.getBody());
  op.getResult().replaceAllUsesWith(pruned.getResult());
  op.erase();
  return pruned;
}

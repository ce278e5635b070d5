//===- BatchFunction.cpp - Batching of a function -------------------------===//

#include "Batch/BatchFunction.h"

#include "Batch/BlockBatch.h"

using namespace mlir;
using namespace mlir::grad;

/// The function that is called for no row: it returns empty tensors.
static void dropBody(func::FuncOp func, ArrayRef<int64_t> batched,
                     BlockBatch &batch) {
  Block &block = func.getBody().front();
  Operation *terminator = block.getTerminator();
  batch.builder().setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(batch.empty(func.getLoc(), operand.get().getType()));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (&op != terminator && op.use_empty())
      op.erase();
  for (int64_t number : batched) {
    BlockArgument argument = block.getArgument(number);
    argument.setType(batch.getFormType(argument.getType()));
  }
}

LogicalResult mlir::grad::batchFunction(func::FuncOp func, VmapOp vmap) {
  Block &block = func.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder builder(func.getContext());
  BlockBatch batch(builder, vmap.getSize(), [&](Diagnostic &diag) {
    diag.attachNote(vmap.getLoc()) << "for this grad.vmap";
  });
  if (failed(batch.checkEffects(block)))
    return failure();
  if (vmap.getSize() == 0) {
    dropBody(func, vmap.getBatched(), batch);
  } else {
    SmallVector<BlockArgument> arguments(block.getArguments());
    for (int64_t number : vmap.getBatched())
      batch.batchArgument(arguments[number]);
    if (failed(batch.run(block)))
      return failure();
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(batch.getForm(operand.get()));
    batch.finish();
  }
  func.setType(FunctionType::get(func.getContext(), block.getArgumentTypes(),
                                 terminator->getOperandTypes()));
  return success();
}

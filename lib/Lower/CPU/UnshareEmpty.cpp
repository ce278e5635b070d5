//===- UnshareEmpty.cpp - One tensor.empty for each use -------------------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir::grad {
#define GEN_PASS_DEF_UNSHAREEMPTYPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

namespace {
struct UnshareEmptyPass : grad::impl::UnshareEmptyPassBase<UnshareEmptyPass> {
  void runOnOperation() override {
    unshare<linalg::FillOp>();
    unshare<tensor::EmptyOp>();
    SmallVector<bufferization::ToTensorOp> arguments;
    getOperation().walk([&](bufferization::ToTensorOp op) {
      if (!op.getWritable())
        arguments.push_back(op);
    });
    llvm::for_each(arguments, unshareArgument);
  }

  /// One tensor for each use of an argument, which nobody writes to.
  static void unshareArgument(bufferization::ToTensorOp op) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      OpBuilder builder(op->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      use.set(builder.clone(*op)->getResult(0));
    }
    op->erase();
  }

  template <typename Op>
  void unshare() {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) {
      if (op->getNumResults() == 1)
        ops.push_back(op);
    });
    for (Op op : ops) {
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        OpBuilder builder(use.getOwner());
        use.set(builder.clone(*op)->getResult(0));
      }
      op->erase();
    }
  }
};
} // namespace

//===- UnshareEmpty.cpp - One tensor.empty for each use -------------------===//

#include "Lower/Passes.h"

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

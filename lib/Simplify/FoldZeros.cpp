//===- FoldZeros.cpp - Write instead of adding to zeros -------------------===//

#include "Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::grad {
#define GEN_PASS_DEF_FOLDZEROSPASS
#include "Simplify/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

static bool isZeroFill(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
}

namespace {
/// Pattern: generic { out + x } over zeros -> generic { x } over tensor.empty
struct FoldZeroInit : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumParallelLoops() != op.getNumLoops())
      return rewriter.notifyMatchFailure(op, "a loop reduces");
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      BlockArgument out = op.getMatchingBlockArgument(&init);
      auto add = out.hasOneUse()
                     ? dyn_cast<arith::AddFOp>(*out.getUsers().begin())
                     : arith::AddFOp();
      // Each element has to be written exactly once.
      if (!add || !isZeroFill(init.get()) ||
          !op.getMatchingIndexingMap(&init).isPermutation())
        continue;
      auto type = cast<RankedTensorType>(init.get().getType());
      if (!type.hasStaticShape())
        continue;
      Value term = add.getLhs() == out ? add.getRhs() : add.getLhs();
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      rewriter.replaceOp(add, term);
      changed = true;
    }
    return changed ? success()
                   : rewriter.notifyMatchFailure(op, "adds to no zeros");
  }
};

struct FoldZerosPass : grad::impl::FoldZerosPassBase<FoldZerosPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldZeroInit>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

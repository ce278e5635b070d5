//===- Generalize.cpp - Every linalg op as a linalg.generic ---------------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

namespace mlir::grad {
#define GEN_PASS_DEF_GENERALIZEPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

/// `linalg.softmax` and the like are not structured ops: they decompose.
static LogicalResult decompose(Operation *op, IRRewriter &rewriter) {
  auto aggregated = cast<linalg::AggregatedOpInterface>(op);
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> results =
      aggregated.decomposeOperation(rewriter);
  if (failed(results))
    return op->emitOpError("cannot be decomposed into loops");
  rewriter.replaceOp(op, *results);
  return success();
}

namespace {
struct GeneralizePass : grad::impl::GeneralizePassBase<GeneralizePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    RewritePatternSet patterns(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> aggregated;
    function.walk([&](linalg::AggregatedOpInterface op) {
      if (!isa<linalg::LinalgOp>(op.getOperation()))
        aggregated.push_back(op);
    });
    for (Operation *op : aggregated)
      if (failed(decompose(op, rewriter)))
        return signalPassFailure();

    SmallVector<linalg::LinalgOp> named;
    function.walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op.emitOpError("cannot be written as a linalg.generic");
        return signalPassFailure();
      }
    }
  }
};
} // namespace

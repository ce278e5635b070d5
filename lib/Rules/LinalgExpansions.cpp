//===- LinalgExpansions.cpp - Linalg ops that stand for several -----------===//

#include "Rules/Expansion.h"
#include "Rules/Rules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::grad;

/// exp(x - m) / sum(exp(x - m)), where m is the maximum. The result does not
/// depend on what is subtracted, so m needs no derivative.
static FailureOr<SmallVector<Value>> expandSoftmax(OpBuilder &b,
                                                   linalg::SoftmaxOp op) {
  FailureOr<SmallVector<Value>> results = failure();
  SmallVector<Operation *> ops =
      collectCreated(b, [&] { results = op.decomposeOperation(b); });
  if (failed(results))
    return op.emitOpError("has no derivative rule for its operands");
  auto *maximum = llvm::find_if(ops, [](Operation *inner) {
    auto nest = dyn_cast<linalg::LinalgOp>(inner);
    return nest && nest.getNumReductionLoops() != 0;
  });
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(*maximum);
  Value shift = (*maximum)->getResult(0);
  auto stop = StopGradientOp::create(b, op.getLoc(), shift.getType(), shift);
  shift.replaceAllUsesExcept(stop.getResult(), stop);
  return results;
}

/// Lets `lower`, which replaces its op, work on a copy.
template <typename OpTy, typename LowerFn>
static FailureOr<SmallVector<Value>> expandCopy(OpBuilder &b, OpTy op,
                                                LowerFn lower) {
  IRRewriter rewriter(b);
  auto copy = cast<OpTy>(rewriter.clone(*op));
  rewriter.setInsertionPoint(copy);
  FailureOr<Value> result = lower(rewriter, copy);
  if (failed(result)) {
    rewriter.eraseOp(copy);
    return op.emitOpError("has no derivative rule for its operands");
  }
  return SmallVector<Value>{*result};
}

static FailureOr<SmallVector<Value>> expandPack(OpBuilder &b,
                                                linalg::PackOp op) {
  return expandCopy(
      b, op, [](IRRewriter &rewriter, linalg::PackOp copy) -> FailureOr<Value> {
        FailureOr<linalg::LowerPackResult> lowered = linalg::lowerPack(
            rewriter, copy, /*lowerPadLikeWithInsertSlice=*/false);
        if (failed(lowered))
          return failure();
        return lowered->transposeOp.getResult()[0];
      });
}

static FailureOr<SmallVector<Value>> expandUnPack(OpBuilder &b,
                                                  linalg::UnPackOp op) {
  return expandCopy(
      b, op,
      [](IRRewriter &rewriter, linalg::UnPackOp copy) -> FailureOr<Value> {
        FailureOr<linalg::LowerUnPackOpResult> lowered = linalg::lowerUnPack(
            rewriter, copy, /*lowerUnpadLikeWithExtractSlice=*/false);
        if (failed(lowered))
          return failure();
        return lowered->extractSliceOp.getResult();
      });
}

template <typename OpTy,
          FailureOr<Operation *> (*decompose)(RewriterBase &, OpTy)>
static FailureOr<SmallVector<Value>> expandWinograd(OpBuilder &b, OpTy op) {
  return expandCopy(b, op,
                    [](IRRewriter &rewriter, OpTy copy) -> FailureOr<Value> {
                      FailureOr<Operation *> result = decompose(rewriter, copy);
                      if (failed(result))
                        return failure();
                      return (*result)->getResult(0);
                    });
}

static void attach(MLIRContext *context, linalg::LinalgDialect *) {
  expansion<linalg::SoftmaxOp>(context, expandSoftmax);
  expansion<linalg::PackOp>(context, expandPack);
  expansion<linalg::UnPackOp>(context, expandUnPack);
  expansion<linalg::WinogradFilterTransformOp>(
      context, expandWinograd<linalg::WinogradFilterTransformOp,
                              linalg::decomposeWinogradFilterTransformOp>);
  expansion<linalg::WinogradInputTransformOp>(
      context, expandWinograd<linalg::WinogradInputTransformOp,
                              linalg::decomposeWinogradInputTransformOp>);
  expansion<linalg::WinogradOutputTransformOp>(
      context, expandWinograd<linalg::WinogradOutputTransformOp,
                              linalg::decomposeWinogradOutputTransformOp>);
}

void mlir::grad::registerLinalgExpansions(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

//===- LowerMath.cpp - Calls of libm --------------------------------------===//

#include "Lower/Passes.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LOWERMATHPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

namespace {
/// Rounds f64 to 16 bits by way of f32, as PyTorch does: processors have no
/// other instruction.
struct TruncateInSteps : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isF64() ||
        getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() != 16)
      return rewriter.notifyMatchFailure(op, "is one step");
    Type middle = rewriter.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(op.getType()))
      middle = shaped.clone(middle);
    Value half =
        arith::TruncFOp::create(rewriter, op.getLoc(), middle, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), half);
    return success();
  }
};

/// Pattern: clampf -> minimum of the upper bound and a maximum
struct LowerClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                             op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

struct LowerMathPass : grad::impl::LowerMathPassBase<LowerMathPass> {
  void runOnOperation() override {
    // Divisions that round to the other side, 16-bit conversions, integer
    // powers and clamps have no counterpart in LLVM.
    RewritePatternSet expansions(&getContext());
    expansions.add<TruncateInSteps>(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(expansions);
    arith::populateExpandBFloat16Patterns(expansions);
    math::populateExpansionPatterns(expansions, {"fpowi"});
    // MLIR's expansion takes the bounds for each other.
    expansions.add<LowerClamp>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(expansions))))
      return signalPassFailure();

    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target
        .addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
                      math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp,
                      math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpM1Op,
                      math::Log1pOp, math::SinhOp, math::TanOp, math::TanhOp>();
    RewritePatternSet calls(&getContext());
    populateMathToLibmConversionPatterns(calls);
    if (failed(
            applyPartialConversion(getOperation(), target, std::move(calls))))
      signalPassFailure();
  }
};
} // namespace

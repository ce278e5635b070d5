//===- GatherWindows.cpp - Window adjoints in gather form -----------------===//
//
// The adjoint of a convolution by its input adds to overlapping windows:
//
//   dx[s p + k q] += ct[p] * w[q]
//
// No loop of it is parallel and no library call computes it. Read the other
// way round, each element of dx gathers what is due to it:
//
//   dx[x] = sum over q' of ct'[x + k q'] * w'[q']
//
// where w' is w reversed and ct' is ct spread out by s and surrounded by zeros.
// That is a convolution again.
//
//===----------------------------------------------------------------------===//

#include "Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace mlir::grad {
#define GEN_PASS_DEF_GATHERWINDOWSPASS
#include "Simplify/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// An output position `stride * moving + dilation * inner`.
struct Window {
  unsigned outDim;
  unsigned moving, inner;
  int64_t stride, dilation;
};

/// `coefficient * dimension`, if `expr` is that.
std::optional<std::pair<unsigned, int64_t>> matchScaledDim(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return std::make_pair(dim.getPosition(), int64_t(1));
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !constant || constant.getValue() <= 0)
    return std::nullopt;
  return std::make_pair(dim.getPosition(), constant.getValue());
}

/// Pattern: a sum of products at window positions -> the same sum gathered
struct GatherWindows : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;

private:
  static bool isSumOfProducts(linalg::GenericOp op);
  static FailureOr<SmallVector<Window>> matchWindows(linalg::GenericOp op);
  static Value spread(PatternRewriter &rewriter, linalg::GenericOp op,
                      unsigned input, ArrayRef<Window> windows);
  static Value reverse(PatternRewriter &rewriter, linalg::GenericOp op,
                       unsigned input, ArrayRef<Window> windows);
};
} // namespace

bool GatherWindows::isSumOfProducts(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return false;
  Block &body = *op.getBlock();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || body.getOperations().size() != 3)
    return false;
  auto isOut = [&](Value value) { return value == body.getArgument(2); };
  Value term = isOut(add.getLhs()) ? add.getRhs() : add.getLhs();
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product || (!isOut(add.getLhs()) && !isOut(add.getRhs())))
    return false;
  // Of both inputs: where one is spread, the product has to be zero.
  Value x = body.getArgument(0), y = body.getArgument(1);
  return (product.getLhs() == x && product.getRhs() == y) ||
         (product.getLhs() == y && product.getRhs() == x);
}

FailureOr<SmallVector<Window>>
GatherWindows::matchWindows(linalg::GenericOp op) {
  SmallVector<Window> windows;
  AffineMap out = op.getIndexingMapsArray().back();
  SmallVector<int> uses(op.getNumLoops());
  for (auto [number, expr] : llvm::enumerate(out.getResults())) {
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        ++uses[dim.getPosition()];
    });
    if (isa<AffineDimExpr>(expr))
      continue;
    auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!sum || sum.getKind() != AffineExprKind::Add)
      return failure();
    auto left = matchScaledDim(sum.getLHS());
    auto right = matchScaledDim(sum.getRHS());
    if (!left || !right)
      return failure();
    windows.push_back({unsigned(number), left->first, right->first,
                       left->second, right->second});
  }
  if (windows.empty() || llvm::any_of(uses, [](int n) { return n > 1; }))
    return failure();

  // One operand, the cotangent, moves with the window, the other stays in it.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto reads = [&](unsigned input, unsigned dim) {
    return maps[input].isFunctionOfDim(dim);
  };
  if (!maps[0].isProjectedPermutation() || !maps[1].isProjectedPermutation())
    return failure();
  // Both may fit, as the sum is symmetric: take the smaller window.
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Window> best;
  int64_t bestSize = std::numeric_limits<int64_t>::max();
  for (unsigned cotangent : {0u, 1u})
    for (bool swapped : {false, true}) {
      SmallVector<Window> candidate = windows;
      bool fits = true;
      int64_t size = 1;
      for (Window &window : candidate) {
        if (swapped) {
          std::swap(window.moving, window.inner);
          std::swap(window.stride, window.dilation);
        }
        fits &= reads(cotangent, window.moving) &&
                !reads(cotangent, window.inner) &&
                reads(1 - cotangent, window.inner) &&
                !reads(1 - cotangent, window.moving);
        size *= ranges[window.inner];
      }
      if (fits && size < bestSize) {
        best = candidate;
        bestSize = size;
      }
    }
  if (best.empty())
    return failure();
  return best;
}

/// The loop that dimension `dim` of an operand with `map` follows.
static unsigned getLoop(AffineMap map, unsigned dim) {
  return cast<AffineDimExpr>(map.getResult(dim)).getPosition();
}

static Value getZeros(PatternRewriter &rewriter, Location loc,
                      ArrayRef<int64_t> shape, Type element) {
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
  Value empty = tensor::EmptyOp::create(rewriter, loc, shape, element);
  return linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
}

Value GatherWindows::spread(PatternRewriter &rewriter, linalg::GenericOp op,
                            unsigned input, ArrayRef<Window> windows) {
  Value value = op.getInputs()[input];
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap map = op.getIndexingMapsArray()[input];
  auto outType = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> offsets(shape.size(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    for (const Window &window : windows)
      if (getLoop(map, dim) == window.moving) {
        int64_t margin = window.dilation * (ranges[window.inner] - 1);
        shape[dim] = outType.getDimSize(window.outDim) + margin;
        offsets[dim] = rewriter.getIndexAttr(margin);
        strides[dim] = rewriter.getIndexAttr(window.stride);
      }
  return tensor::InsertSliceOp::create(
      rewriter, op.getLoc(), value,
      getZeros(rewriter, op.getLoc(), shape, type.getElementType()), offsets,
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()), strides);
}

Value GatherWindows::reverse(PatternRewriter &rewriter, linalg::GenericOp op,
                             unsigned input, ArrayRef<Window> windows) {
  Value value = op.getInputs()[input];
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap map = op.getIndexingMapsArray()[input];
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr expr = rewriter.getAffineDimExpr(dim);
    for (const Window &window : windows)
      if (getLoop(map, dim) == window.inner)
        expr = (type.getDimSize(dim) - 1) - expr;
    exprs.push_back(expr);
  }
  AffineMap reversed =
      AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(),
                                        type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, op.getLoc(), type, value, empty,
             ArrayRef{reversed, identity}, iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args[0]);
             })
      .getResult(0);
}

LogicalResult GatherWindows::matchAndRewrite(linalg::GenericOp op,
                                             PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || !isSumOfProducts(op))
    return rewriter.notifyMatchFailure(op, "not a sum of products");
  if (llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic))
    return rewriter.notifyMatchFailure(op, "dynamic loop bounds");
  if (llvm::is_contained(op.getStaticLoopRanges(), 0))
    return rewriter.notifyMatchFailure(op, "no points");
  FailureOr<SmallVector<Window>> windows = matchWindows(op);
  if (failed(windows))
    return rewriter.notifyMatchFailure(op, "no window positions");

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned cotangent = maps[0].isFunctionOfDim(windows->front().moving) ? 0 : 1;
  SmallVector<Value> inputs(2);
  inputs[cotangent] = spread(rewriter, op, cotangent, *windows);
  inputs[1 - cotangent] = reverse(rewriter, op, 1 - cotangent, *windows);

  // The loop over window positions becomes the loop over output positions.
  SmallVector<AffineExpr> out(maps.back().getResults());
  SmallVector<AffineExpr> moved(maps[cotangent].getResults());
  for (const Window &window : *windows) {
    AffineExpr position = rewriter.getAffineDimExpr(window.moving);
    AffineExpr inner = rewriter.getAffineDimExpr(window.inner);
    out[window.outDim] = position;
    for (AffineExpr &expr : moved)
      if (expr == position)
        expr = position + inner * window.dilation;
  }
  unsigned loops = op.getNumLoops();
  maps.back() = AffineMap::get(loops, 0, out, rewriter.getContext());
  maps[cotangent] = AffineMap::get(loops, 0, moved, rewriter.getContext());
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : out)
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;
  auto gathered =
      linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(),
                                inputs, op.getOutputs(), maps, iterators);
  rewriter.inlineRegionBefore(op.getRegion(), gathered.getRegion(),
                              gathered.getRegion().begin());
  rewriter.replaceOp(op, gathered.getResults());
  return success();
}

namespace {
struct GatherWindowsPass
    : grad::impl::GatherWindowsPassBase<GatherWindowsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<GatherWindows>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

//===- MaterializeWindows.cpp - Convolutions as matrix products -----------===//
//
// One rule serves a convolution and both of its gradients: the operand with
// windows, whichever of the three it is, is replaced by a tensor with one
// dimension a loop. The order of these dimensions is chosen for the copy:
// whole dimensions first, positions inside the window next, positions of the
// window innermost, where the copy runs over contiguous memory.
//
// A large window tensor would go through main memory. When its first dimension
// is one of the whole ones, the images of a batch, a loop over it keeps the
// windows of one image in the cache.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/Contraction.h"
#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_MATERIALIZEWINDOWSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// The loops of `map`, in the order of the dimensions of the window tensor.
static SmallVector<unsigned> orderDims(AffineMap map,
                                       ArrayRef<int64_t> ranges) {
  SmallVector<unsigned> plain, inner, outer;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      plain.push_back(dim.getPosition());
      continue;
    }
    llvm::SmallBitVector dims(map.getNumDims());
    result.walk([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        dims.set(dim.getPosition());
    });
    SmallVector<unsigned> terms(dims.set_bits());
    // The largest term moves the window, the others move inside it.
    auto largest = llvm::max_element(
        terms, [&](unsigned a, unsigned b) { return ranges[a] < ranges[b]; });
    for (auto *it = terms.begin(); it != terms.end(); ++it)
      (it == largest ? outer : inner).push_back(*it);
  }
  llvm::append_range(plain, inner);
  llvm::append_range(plain, outer);
  return plain;
}

/// A part of a second-level cache.
static constexpr int64_t kCacheBytes = int64_t(1) << 18;

namespace {
/// A sum of products with windows in `operand`.
struct Windows {
  OpOperand *operand;
  AffineMap map;
  SmallVector<unsigned> dims;
  SmallVector<int64_t> shape;

  /// From the loops of the op to the dimensions of the window tensor.
  AffineMap getContractionMap() const {
    SmallVector<AffineExpr> results;
    for (unsigned dim : dims)
      results.push_back(getAffineDimExpr(dim, map.getContext()));
    return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
  }

  /// From the dimensions of the window tensor to those of the operand.
  AffineMap getCopyMap() const {
    SmallVector<AffineExpr> replacements(
        map.getNumDims(), getAffineConstantExpr(0, map.getContext()));
    for (auto [i, dim] : llvm::enumerate(dims))
      replacements[dim] = getAffineDimExpr(i, map.getContext());
    return map.replaceDimsAndSymbols(replacements, {}, dims.size(), 0);
  }
};

struct MaterializeWindowsPass
    : grad::impl::MaterializeWindowsPassBase<MaterializeWindowsPass> {
  using MaterializeWindowsPassBase::MaterializeWindowsPassBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      rewrite(rewriter, op);
  }

  std::optional<Windows> match(linalg::GenericOp op,
                               const SumOfProducts &sum) const {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    std::optional<Windows> windows;
    for (OpOperand *operand : {sum.lhs, sum.rhs, sum.out}) {
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (map.isProjectedPermutation())
        continue;
      if (windows)
        return std::nullopt;
      windows = Windows{operand, map, orderDims(map, ranges), {}};
    }
    if (!windows)
      return std::nullopt;
    // A loop that occurs in two dimensions of the operand (a diagonal) would
    // get two dimensions of the window tensor.
    llvm::SmallBitVector used = usedDims(windows->map);
    if (used.count() != windows->dims.size())
      return std::nullopt;
    int64_t reuse = 1;
    for (auto [i, range] : llvm::enumerate(ranges))
      if (!used.test(i))
        reuse *= range;
    if (reuse < minReuse)
      return std::nullopt;
    for (unsigned dim : windows->dims)
      windows->shape.push_back(ranges[dim]);
    return windows;
  }

  /// The loop over which to split `op`, if its windows are too large.
  static std::optional<unsigned> getBatchDim(linalg::GenericOp op,
                                             const Windows &windows) {
    auto first = dyn_cast<AffineDimExpr>(windows.map.getResult(0));
    if (!first || op.getStaticLoopRanges()[first.getPosition()] == 1)
      return std::nullopt;
    Type element = getElementTypeOrSelf(windows.operand->get().getType());
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    for (int64_t size : windows.shape)
      bytes *= size;
    if (bytes <= kCacheBytes)
      return std::nullopt;
    return first.getPosition();
  }

  /// The part of `operand` for iteration `index` of loop `dim`: all of it when
  /// the loop does not move over it.
  static Value getSlice(OpBuilder &builder, Location loc, Value tensor,
                        AffineMap map, unsigned dim, Value index,
                        SmallVectorImpl<OpFoldResult> &offsets,
                        SmallVectorImpl<OpFoldResult> &sizes,
                        SmallVectorImpl<OpFoldResult> &strides) {
    bool moves = false;
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [result, size] : llvm::zip(map.getResults(), type.getShape())) {
      auto expr = dyn_cast<AffineDimExpr>(result);
      bool here = expr && expr.getPosition() == dim;
      moves |= here;
      offsets.push_back(here ? OpFoldResult(index) : builder.getIndexAttr(0));
      sizes.push_back(builder.getIndexAttr(here ? 1 : size));
      strides.push_back(builder.getIndexAttr(1));
    }
    if (!moves)
      return tensor;
    return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes,
                                          strides);
  }

  /// Splits `op` into a loop over `dim` and returns the op in its body.
  static linalg::GenericOp split(IRRewriter &rewriter, linalg::GenericOp op,
                                 unsigned dim) {
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    Value size = arith::ConstantIndexOp::create(rewriter, loc,
                                                op.getStaticLoopRanges()[dim]);
    auto loop =
        scf::ForOp::create(rewriter, loc, zero, size, one, op.getDpsInits());
    rewriter.setInsertionPointToStart(loop.getBody());
    Value index = loop.getInductionVar();
    SmallVector<Value> operands;
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (OpOperand &operand : op->getOpOperands()) {
      offsets.clear();
      sizes.clear();
      strides.clear();
      Value whole =
          op.isDpsInit(&operand) ? loop.getRegionIterArg(0) : operand.get();
      operands.push_back(getSlice(rewriter, loc, whole,
                                  op.getMatchingIndexingMap(&operand), dim,
                                  index, offsets, sizes, strides));
    }
    auto part = cast<linalg::GenericOp>(
        mlir::clone(rewriter, op, operands.back().getType(), operands));
    Value result = part.getResult(0);
    // The slice of the result was the last one.
    if (result.getType() != op.getResult(0).getType())
      result = tensor::InsertSliceOp::create(rewriter, loc, result,
                                             loop.getRegionIterArg(0), offsets,
                                             sizes, strides);
    scf::YieldOp::create(rewriter, loc, result);
    rewriter.replaceOp(op, loop.getResults());
    return part;
  }

  void rewrite(IRRewriter &rewriter, linalg::GenericOp op) {
    std::optional<SumOfProducts> sum = matchSumOfProducts(op);
    if (!sum || !op.hasPureTensorSemantics() ||
        ShapedType::isDynamicShape(op.getStaticLoopRanges()))
      return;
    std::optional<Windows> windows = match(op, *sum);
    if (!windows)
      return;
    if (std::optional<unsigned> batch = getBatchDim(op, *windows))
      return rewrite(rewriter, split(rewriter, op, *batch));

    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    Type element = getElementTypeOrSelf(windows->operand->get().getType());
    auto type = RankedTensorType::get(windows->shape, element);
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, windows->shape, element);
    AffineMap identity = rewriter.getMultiDimIdentityMap(windows->dims.size());
    SmallVector<utils::IteratorType> parallel(windows->dims.size(),
                                              utils::IteratorType::parallel);
    bool isResult = windows->operand == sum->out;
    if (!isResult) {
      auto copy = linalg::GenericOp::create(
          rewriter, loc, type, windows->operand->get(), empty,
          {windows->getCopyMap(), identity}, parallel,
          [](OpBuilder &builder, Location loc, ValueRange args) {
            linalg::YieldOp::create(builder, loc, args[0]);
          });
      rewriter.modifyOpInPlace(op, [&] {
        windows->operand->set(copy.getResult(0));
        setMap(op, windows->operand, windows->getContractionMap());
      });
      return;
    }

    // The product fills the windows, which then add up in the result.
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
    Value filled =
        linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    AffineMap contraction = windows->getContractionMap();
    llvm::SmallBitVector inResult = usedDims(contraction);
    SmallVector<utils::IteratorType> iterators;
    for (unsigned i = 0; i < contraction.getNumDims(); ++i)
      iterators.push_back(inResult.test(i) ? utils::IteratorType::parallel
                                           : utils::IteratorType::reduction);
    auto product = linalg::GenericOp::create(
        rewriter, loc, type, ValueRange{sum->lhs->get(), sum->rhs->get()},
        filled, {sum->lhsMap, sum->rhsMap, contraction}, iterators,
        [](OpBuilder &builder, Location loc, ValueRange args) {
          buildSumOfProductsBody(builder, loc, args);
        });
    SmallVector<utils::IteratorType> overlapping(
        windows->dims.size(), utils::IteratorType::reduction);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getResultTypes(), product.getResult(0), sum->out->get(),
        ArrayRef<AffineMap>{identity, windows->getCopyMap()}, overlapping,
        [](OpBuilder &builder, Location loc, ValueRange args) {
          Value sum = arith::AddFOp::create(builder, loc, args[1], args[0]);
          linalg::YieldOp::create(builder, loc, sum);
        });
  }

  static void setMap(linalg::GenericOp op, OpOperand *operand, AffineMap map) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] = map;
    op.setIndexingMapsAttr(OpBuilder(op).getAffineMapArrayAttr(maps));
  }
};
} // namespace

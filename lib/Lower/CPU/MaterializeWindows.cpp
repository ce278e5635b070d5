//===- MaterializeWindows.cpp - Convolutions as matrix products -----------===//
//
// One rule serves a convolution and both of its gradients: the operand with
// windows, whichever of the three it is, is replaced by a tensor with one
// dimension a loop. The order of these dimensions is chosen for the copy:
// whole dimensions first, positions inside the window next, positions of the
// window innermost, where the copy runs over contiguous memory.
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
static SmallVector<unsigned> orderDims(AffineMap map, ArrayRef<int64_t> ranges) {
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
    auto largest = llvm::max_element(terms, [&](unsigned a, unsigned b) {
      return ranges[a] < ranges[b];
    });
    for (auto *it = terms.begin(); it != terms.end(); ++it)
      (it == largest ? outer : inner).push_back(*it);
  }
  llvm::append_range(plain, inner);
  llvm::append_range(plain, outer);
  return plain;
}

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

  void rewrite(IRRewriter &rewriter, linalg::GenericOp op) {
    std::optional<SumOfProducts> sum = matchSumOfProducts(op);
    if (!sum || !op.hasPureTensorSemantics() ||
        ShapedType::isDynamicShape(op.getStaticLoopRanges()))
      return;
    std::optional<Windows> windows = match(op, *sum);
    if (!windows)
      return;

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
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getZeroAttr(element));
    Value filled = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
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
    op.setIndexingMapsAttr(
        OpBuilder(op).getAffineMapArrayAttr(maps));
  }
};
} // namespace

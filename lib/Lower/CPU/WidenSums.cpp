//===- WidenSums.cpp - Sums accumulate in a wider type --------------------===//
//
// 16-bit sums accumulate in f32, which is what PyTorch does. Sums of f32
// accumulate in f64: PyTorch adds in cascades, whose error hardly grows with
// the number of terms, and the loops made here add one term after the other.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/Contraction.h"
#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_WIDENSUMSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// The type that a sum of `element` accumulates in, or null for `element`.
static Type getSumType(Type element) {
  if (isHalf(element))
    return Float32Type::get(element.getContext());
  return element.isF32() ? Float64Type::get(element.getContext()) : Type();
}

/// A sum that will not be a matrix product, in f32. Products for BLAS, among
/// them convolutions, keep their type.
static bool isPlainSum(linalg::GenericOp op, Value addend) {
  if (!addend.getDefiningOp<arith::MulFOp>())
    return true;
  std::optional<SumOfProducts> sum = matchSumOfProducts(op);
  return sum && !hasReuse(*sum, op.getStaticLoopRanges());
}

/// `init` with the element type of a sum; a filled tensor is filled anew.
static Value widenInit(OpBuilder &builder, Location loc, Value init,
                       Type type) {
  auto shaped = cast<RankedTensorType>(init.getType()).clone(type);
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return arith::ExtFOp::create(builder, loc, shaped, init);
  Value scalar = arith::ExtFOp::create(builder, loc, type, fill.value());
  Value empty = tensor::EmptyOp::create(builder, loc, shaped.getShape(), type);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

/// `value` with f32 in place of a 16-bit element type.
static Value widen(OpBuilder &builder, Location loc, Value value) {
  if (!isHalf(value.getType()))
    return value;
  Type type = builder.getF32Type();
  if (auto shaped = dyn_cast<RankedTensorType>(value.getType()))
    type = shaped.clone(type);
  return arith::ExtFOp::create(builder, loc, type, value);
}

/// Sums of products: the factors become f32 tensors, which BLAS can multiply.
static bool widenProducts(IRRewriter &rewriter, linalg::GenericOp op) {
  std::optional<SumOfProducts> sum = matchSumOfProducts(op);
  if (!sum || (!isHalf(sum->lhs->get().getType()) &&
               !isHalf(sum->rhs->get().getType())))
    return false;
  if (!hasReuse(*sum, op.getStaticLoopRanges()))
    return false;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value lhs = widen(rewriter, loc, sum->lhs->get());
  Value rhs = widen(rewriter, loc, sum->rhs->get());
  Value out = widen(rewriter, loc, sum->out->get());
  if (lhs.getType() != rhs.getType() &&
      getElementTypeOrSelf(lhs) != getElementTypeOrSelf(rhs))
    return false;
  Value result =
      linalg::GenericOp::create(
          rewriter, loc, out.getType(), ValueRange{lhs, rhs}, out,
          {sum->lhsMap, sum->rhsMap, sum->outMap}, op.getIteratorTypesArray(),
          [](OpBuilder &builder, Location loc, ValueRange args) {
            buildSumOfProductsBody(builder, loc, args);
          })
          .getResult(0);
  if (result.getType() != op.getResult(0).getType())
    result = arith::TruncFOp::create(rewriter, loc, op.getResult(0).getType(),
                                     result);
  rewriter.replaceOp(op, result);
  return true;
}

/// The addition that accumulates into output `index`, if there is a wider type
/// for it and nothing else reads the accumulator.
static arith::AddFOp getNarrowSum(linalg::GenericOp op, unsigned index) {
  BlockArgument accumulator =
      op.getRegion().front().getArgument(op.getNumDpsInputs() + index);
  Operation *yield = op.getRegion().front().getTerminator();
  auto add = yield->getOperand(index).getDefiningOp<arith::AddFOp>();
  if (!add || !getSumType(accumulator.getType()) || !accumulator.hasOneUse() ||
      !add->hasOneUse() || *accumulator.user_begin() != add)
    return nullptr;
  Value addend = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
  return isHalf(accumulator.getType()) || isPlainSum(op, addend) ? add
                                                                 : nullptr;
}

/// Any other op: the body keeps its types but for the accumulators.
static void widenAccumulators(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> outputs;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (getNarrowSum(op, i))
      outputs.push_back(i);
  if (outputs.empty())
    return;
  Location loc = op.getLoc();
  Block &body = op.getRegion().front();
  rewriter.setInsertionPointAfter(op);
  for (unsigned i : outputs) {
    arith::AddFOp add = getNarrowSum(op, i);
    BlockArgument accumulator = body.getArgument(op.getNumDpsInputs() + i);
    Value addend = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
    OpBuilder inner(add);
    Type type = getSumType(accumulator.getType());
    // The product of two 16-bit floats is exact in f32.
    auto product = addend.getDefiningOp<arith::MulFOp>();
    if (product && isHalf(accumulator.getType()))
      addend =
          arith::MulFOp::create(inner, loc, widen(inner, loc, product.getLhs()),
                                widen(inner, loc, product.getRhs()));
    else
      addend = arith::ExtFOp::create(inner, loc, type, addend);
    accumulator.setType(type);
    Value sum = arith::AddFOp::create(inner, loc, accumulator, addend);
    body.getTerminator()->setOperand(i, sum);
    add.erase();

    OpOperand *init = op.getDpsInitOperand(i);
    OpBuilder before(op);
    Value wide = widenInit(before, loc, init->get(), type);
    Type narrow = init->get().getType();
    init->set(wide);
    Value result = op.getResult(i);
    result.setType(wide.getType());
    auto truncated = arith::TruncFOp::create(rewriter, loc, narrow, result);
    result.replaceAllUsesExcept(truncated, truncated);
  }
}

namespace {
struct WidenSumsPass : grad::impl::WidenSumsPassBase<WidenSumsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      if (op.getNumReductionLoops() > 0 && op.hasPureTensorSemantics() &&
          !widenProducts(rewriter, op))
        widenAccumulators(rewriter, op);
  }
};
} // namespace

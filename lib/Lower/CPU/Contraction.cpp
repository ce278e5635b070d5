//===- Contraction.cpp - Sums of products ---------------------------------===//

#include "Lower/CPU/Contraction.h"

using namespace mlir;
using namespace mlir::grad;

/// The block argument that `value` is, or widens.
static BlockArgument getFactor(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    value = extend.getIn();
  return dyn_cast<BlockArgument>(value);
}

std::optional<SumOfProducts> grad::matchSumOfProducts(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block &body = op.getRegion().front();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return std::nullopt;
  BlockArgument accumulator = body.getArgument(2);
  Value other = add.getLhs() == accumulator   ? add.getRhs()
                : add.getRhs() == accumulator ? add.getLhs()
                                              : Value();
  auto product = other ? other.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!product || other == accumulator)
    return std::nullopt;
  BlockArgument left = getFactor(product.getLhs());
  BlockArgument right = getFactor(product.getRhs());
  if (!left || !right || left == right || left.getOwner() != &body ||
      right.getOwner() != &body || left == accumulator || right == accumulator)
    return std::nullopt;
  OpOperand *lhs = op.getDpsInputOperand(left.getArgNumber());
  OpOperand *rhs = op.getDpsInputOperand(right.getArgNumber());
  OpOperand *out = op.getDpsInitOperand(0);
  if (!isa<ShapedType>(lhs->get().getType()) ||
      !isa<ShapedType>(rhs->get().getType()))
    return std::nullopt;
  return SumOfProducts{lhs,
                       rhs,
                       out,
                       op.getMatchingIndexingMap(lhs),
                       op.getMatchingIndexingMap(rhs),
                       op.getMatchingIndexingMap(out)};
}

llvm::SmallBitVector grad::usedDims(AffineMap map) {
  llvm::SmallBitVector dims(map.getNumDims());
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        dims.set(dim.getPosition());
    });
  return dims;
}

bool grad::hasReuse(const SumOfProducts &sum, ArrayRef<int64_t> ranges) {
  llvm::SmallBitVector lhs = usedDims(sum.lhsMap), rhs = usedDims(sum.rhsMap);
  for (unsigned i = 0; i < ranges.size(); ++i)
    if (ranges[i] != 1 && lhs.test(i) != rhs.test(i))
      return true;
  return false;
}

bool grad::isGemmLike(linalg::GenericOp op) {
  std::optional<SumOfProducts> sum = matchSumOfProducts(op);
  if (!sum || !sum->lhsMap.isProjectedPermutation() ||
      !sum->rhsMap.isProjectedPermutation() ||
      !sum->outMap.isProjectedPermutation())
    return false;
  Type element = getElementTypeOrSelf(sum->out->get().getType());
  if (!(element.isF32() || element.isF64()) ||
      getElementTypeOrSelf(sum->lhs->get().getType()) != element ||
      getElementTypeOrSelf(sum->rhs->get().getType()) != element)
    return false;
  // A dimension of one factor alone, or of the result alone, has no place in
  // a matrix product.
  llvm::SmallBitVector lhs = usedDims(sum->lhsMap), rhs = usedDims(sum->rhsMap),
                       out = usedDims(sum->outMap);
  for (unsigned i = 0; i < lhs.size(); ++i)
    if (lhs.test(i) + rhs.test(i) + out.test(i) < 2)
      return false;
  return hasReuse(*sum, op.getStaticLoopRanges());
}

void grad::buildSumOfProductsBody(OpBuilder &builder, Location loc,
                                  ValueRange args) {
  Value product = arith::MulFOp::create(builder, loc, args[0], args[1]);
  Value sum = arith::AddFOp::create(builder, loc, args[2], product);
  linalg::YieldOp::create(builder, loc, sum);
}

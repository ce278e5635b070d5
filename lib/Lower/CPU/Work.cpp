//===- Work.cpp - What a loop nest costs ----------------------------------===//

#include "Lower/CPU/Work.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::grad;

/// Nanoseconds of one op in a vectorized loop.
static double getCost(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(op))
    return 0;
  if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op))
    return 0.5;
  if (isa<math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
          math::RoundEvenOp, math::FmaOp>(op))
    return 0.1;
  if (isa<math::MathDialect>(op.getDialect()))
    return 2;
  // Reads at computed positions, comparisons with assertions.
  if (!isPure(&op))
    return 1;
  return 0.1;
}

double grad::estimateTraffic(Type type) {
  static constexpr double kNanosecondsPerBit = 0.1 / 8;
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer)
    return 0;
  Type element = buffer.getElementType();
  double bits = 64;
  if (auto complex = dyn_cast<ComplexType>(element))
    bits = 2.0 * complex.getElementType().getIntOrFloatBitWidth();
  else if (element.isIntOrFloat())
    bits = element.getIntOrFloatBitWidth();
  return buffer.getNumElements() * bits * kNanosecondsPerBit;
}

double grad::estimateWork(linalg::LinalgOp op) {
  double point = 0, traffic = 0;
  for (Operation &inner : *op.getBlock())
    point += getCost(inner);
  for (Value operand : op->getOperands())
    traffic += estimateTraffic(operand.getType());
  double points = 1;
  for (int64_t size : op.getStaticLoopRanges())
    points *= size;
  return points * point + traffic;
}

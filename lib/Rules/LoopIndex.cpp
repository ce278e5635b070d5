//===- LoopIndex.cpp - Iterations of scf.for as numbers -------------------===//

#include "Rules/LoopIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::grad;

static Value castIndex(OpBuilder &builder, Location loc, Type type,
                       Value value) {
  if (value.getType() == type)
    return value;
  return builder.createOrFold<arith::IndexCastUIOp>(loc, type, value);
}

Value mlir::grad::computeTripCount(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Type type = lower.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  if (matchPattern(lower, m_Zero()) && matchPattern(loop.getStep(), m_One())) {
    Value count =
        loop.getUnsignedCmp()
            ? upper
            : builder.createOrFold<arith::MaxSIOp>(loc, upper, constant(0));
    return castIndex(builder, loc, builder.getIndexType(), count);
  }
  // ceil((upper - lower) / step), without the sum that could overflow.
  Value extent = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value beforeLast =
      builder.createOrFold<arith::SubIOp>(loc, extent, constant(1));
  Value steps =
      builder.createOrFold<arith::DivUIOp>(loc, beforeLast, loop.getStep());
  Value count = builder.createOrFold<arith::AddIOp>(loc, steps, constant(1));
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                         : arith::CmpIPredicate::slt;
  Value runs =
      builder.createOrFold<arith::CmpIOp>(loc, predicate, lower, upper);
  count = builder.createOrFold<arith::SelectOp>(loc, runs, count, constant(0));
  return castIndex(builder, loc, builder.getIndexType(), count);
}

Value mlir::grad::getInductionValue(OpBuilder &builder, scf::ForOp loop,
                                    Value number) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound();
  number = castIndex(builder, loc, lower.getType(), number);
  Value distance =
      builder.createOrFold<arith::MulIOp>(loc, number, loop.getStep());
  return builder.createOrFold<arith::AddIOp>(loc, distance, lower);
}

Value mlir::grad::getIterationNumber(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value distance = builder.createOrFold<arith::SubIOp>(
      loc, loop.getInductionVar(), loop.getLowerBound());
  Value number =
      builder.createOrFold<arith::DivUIOp>(loc, distance, loop.getStep());
  return castIndex(builder, loc, builder.getIndexType(), number);
}

//===- LowerScatterAdd.cpp - grad.scatter_add as loops --------------------===//

#include "GradDialect.h"
#include "Lower/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LOWERSCATTERADDPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// One point of the nest: the body, an addition and the insertion.
static Value emitPoint(ScatterAddOp op, OpBuilder &builder, Location loc,
                       ValueRange indices, Value carried) {
  IRMapping mapping;
  auto maps = op.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  for (auto [input, map, argument] :
       llvm::zip(op.getInputs(), maps, op.getBody().front().getArguments())) {
    SmallVector<Value> position;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      AffineMap component = map.getSubMap(i);
      position.push_back(
          builder.createOrFold<affine::AffineApplyOp>(loc, component, indices));
    }
    mapping.map(
        argument,
        tensor::ExtractOp::create(builder, loc, input, position).getResult());
  }
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (auto index = dyn_cast<LoopIndexOp>(inner))
      mapping.map(index.getResult(), indices[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  SmallVector<Value> yielded;
  for (Value operand : op.getYield().getOperands())
    yielded.push_back(mapping.lookupOrDefault(operand));
  Value addend = yielded.pop_back_val();
  Value before = tensor::ExtractOp::create(builder, loc, carried, yielded);
  Value after =
      isa<FloatType>(addend.getType())
          ? arith::AddFOp::create(builder, loc, before, addend).getResult()
      : isa<ComplexType>(addend.getType())
          ? complex::AddOp::create(builder, loc, before, addend).getResult()
          : arith::AddIOp::create(builder, loc, before, addend).getResult();
  return tensor::InsertOp::create(builder, loc, after, carried, yielded);
}

namespace {
struct LowerScatterAddPass
    : grad::impl::LowerScatterAddPassBase<LowerScatterAddPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    LowerScatterAddPassBase::getDependentDialects(registry);
    registry.insert<affine::AffineDialect, complex::ComplexDialect>();
  }

  void runOnOperation() override {
    SmallVector<ScatterAddOp> ops;
    getOperation().walk([&](ScatterAddOp op) { ops.push_back(op); });
    for (ScatterAddOp op : ops)
      lower(op);
  }

  void lower(ScatterAddOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    SmallVector<Value> lower, upper, step;
    for (int64_t bound : op.getBounds()) {
      lower.push_back(zero);
      upper.push_back(arith::ConstantIndexOp::create(builder, loc, bound));
      step.push_back(one);
    }
    scf::LoopNest nest = scf::buildLoopNest(
        builder, loc, lower, upper, step, op.getInit(),
        [&](OpBuilder &builder, Location loc, ValueRange indices,
            ValueRange carried) -> scf::ValueVector {
          return {emitPoint(op, builder, loc, indices, carried[0])};
        });
    op.getResult().replaceAllUsesWith(nest.results[0]);
    op.erase();
  }
};
} // namespace

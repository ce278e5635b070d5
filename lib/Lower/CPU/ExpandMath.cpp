//===- ExpandMath.cpp - Elementary functions as arithmetic ----------------===//

#include "Lower/Passes.h"
#include "MathEmitter.h"

namespace mlir::grad {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// Makes a real power of an integer power that products would not give to 4
/// units in the last place: a long one, or a negative one, whose reciprocal may
/// over- or underflow.
static void useRealPower(math::FPowIOp op) {
  // Up to the latter, a float holds every integer.
  constexpr int64_t shortest = 8, largest = 1 << 24;
  APInt constant;
  auto type = dyn_cast<FloatType>(op.getType());
  if (!type || !matchPattern(op.getRhs(), m_ConstantInt(&constant)))
    return;
  int64_t exponent = constant.getSExtValue();
  if ((exponent >= 0 && exponent < shortest) || std::abs(exponent) > largest)
    return;
  OpBuilder builder(op);
  Value power = arith::ConstantOp::create(builder, op.getLoc(),
                                          builder.getFloatAttr(type, exponent));
  op.replaceAllUsesWith(
      math::PowFOp::create(builder, op.getLoc(), op.getLhs(), power)
          .getResult());
  op.erase();
}

namespace {
enum class Precision { Single, Both };

struct ExpandMathPass : grad::impl::ExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    getOperation().walk(useRealPower);
    expand<math::ExpOp>(&MathEmitter::exp, Precision::Both);
    expand<math::LogOp>(&MathEmitter::log, Precision::Both);
    expand<math::TanhOp>(&MathEmitter::tanh, Precision::Both);
    expand<math::ErfOp>(&MathEmitter::erf, Precision::Single);
    expand<math::SinOp>(&MathEmitter::sin, Precision::Single);
    expand<math::CosOp>(&MathEmitter::cos, Precision::Single);
    expand<math::Log1pOp>(&MathEmitter::log1p, Precision::Single);
    expand<math::ExpM1Op>(&MathEmitter::expm1, Precision::Single);
    expand<math::PowFOp>(&MathEmitter::pow, Precision::Single);
  }

  template <typename Op, typename... Operands>
  void expand(Value (MathEmitter::*emit)(Operands...), Precision precision) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) {
      Type type = op.getType();
      if (type.isF32() || (precision == Precision::Both && type.isF64()))
        ops.push_back(op);
    });
    for (Op op : ops) {
      OpBuilder builder(op);
      MathEmitter emitter(builder, op.getLoc(), op.getType());
      op.replaceAllUsesWith(std::apply(
          [&](auto... operands) { return (emitter.*emit)(operands...); },
          operandsOf(op)));
      op.erase();
    }
  }

  template <typename Op>
  static auto operandsOf(Op op) {
    if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
      return std::tuple<Value>(op->getOperand(0));
    else
      return std::tuple<Value, Value>(op->getOperand(0), op->getOperand(1));
  }
};
} // namespace

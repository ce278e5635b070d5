//===- ArithRules.cpp - Derivatives of the arith dialect ------------------===//

#include "Rules/Elementwise.h"
#include "Rules/Rules.h"

using namespace mlir;
using namespace mlir::grad;

using B = RuleBuilder;

/// `t` where `x` wins a maximum or minimum, half of it at a tie, zero where it
/// loses. `loses` is an ordered comparison, so NaN operands let `t` pass.
static Value shareAtTie(B &b, Value t, Value loses) {
  Value half =
      b.select(b.equal(b.operand(0), b.operand(1)), b.scale(t, 0.5), t);
  return b.select(loses, b.constant(0), half);
}

/// fmax and fmin give a tie to the first operand, and NaN always loses.
static Value firstWins(B &b, Value t, arith::CmpFPredicate wins, bool first) {
  Value x = b.operand(0), y = b.operand(1);
  Value isFirst = arith::OrIOp::create(
      b.builder(), b.getOp()->getLoc(), b.compare(wins, x, y),
      b.compare(arith::CmpFPredicate::UNO, y, y));
  Value zero = b.constant(0);
  return first ? b.select(isFirst, t, zero) : b.select(isFirst, zero, t);
}

/// Changes the float type of `t` to that of the operand (reverse mode) or of
/// the result (forward mode), whichever it does not have already.
static Value convertFloat(B &b, Value t) {
  Type to = t.getType() == b.result().getType() ? b.operand().getType()
                                                : b.result().getType();
  unsigned from = getElementTypeOrSelf(t.getType()).getIntOrFloatBitWidth();
  if (from < getElementTypeOrSelf(to).getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b.builder(), b.getOp()->getLoc(), to, t);
  return arith::TruncFOp::create(b.builder(), b.getOp()->getLoc(), to, t);
}

static void attach(MLIRContext *context, arith::ArithDialect *) {
  // d(x + y) = dx + dy
  elementwise<arith::AddFOp>(context, {[](B &, Value t) { return t; },
                                       [](B &, Value t) { return t; }});
  // d(x - y) = dx - dy
  elementwise<arith::SubFOp>(context, {[](B &, Value t) { return t; },
                                       [](B &b, Value t) { return b.neg(t); }});
  // d(x y) = y dx + x dy
  elementwise<arith::MulFOp>(
      context, {[](B &b, Value t) { return b.mul(t, b.operand(1)); },
                [](B &b, Value t) { return b.mul(t, b.operand(0)); }});
  // d(x / y) = dx / y - (x / y) / y dy
  elementwise<arith::DivFOp>(
      context, {[](B &b, Value t) { return b.div(t, b.operand(1)); },
                [](B &b, Value t) {
                  return b.neg(b.mul(t, b.div(b.result(), b.operand(1))));
                }});
  elementwise<arith::NegFOp>(context, {[](B &b, Value t) { return b.neg(t); }});
  // d fmod(x, y) = dx - trunc(x / y) dy
  elementwise<arith::RemFOp>(
      context, {[](B &, Value t) { return t; },
                [](B &b, Value t) {
                  Value quotient = b.div(b.operand(0), b.operand(1));
                  return b.neg(b.mul(t, b.make<math::TruncOp>(quotient)));
                }});
  // maximum and minimum: half each at a tie
  elementwise<arith::MaximumFOp>(
      context, {[](B &b, Value t) {
                  return shareAtTie(b, t, b.less(b.operand(0), b.operand(1)));
                },
                [](B &b, Value t) {
                  return shareAtTie(b, t, b.less(b.operand(1), b.operand(0)));
                }});
  elementwise<arith::MinimumFOp>(
      context, {[](B &b, Value t) {
                  return shareAtTie(b, t, b.less(b.operand(1), b.operand(0)));
                },
                [](B &b, Value t) {
                  return shareAtTie(b, t, b.less(b.operand(0), b.operand(1)));
                }});
  // fmax and fmin: the first operand wins a tie, and NaN loses
  elementwise<arith::MaxNumFOp>(
      context, {[](B &b, Value t) {
                  return firstWins(b, t, arith::CmpFPredicate::OGE, true);
                },
                [](B &b, Value t) {
                  return firstWins(b, t, arith::CmpFPredicate::OGE, false);
                }});
  elementwise<arith::MinNumFOp>(
      context, {[](B &b, Value t) {
                  return firstWins(b, t, arith::CmpFPredicate::OLE, true);
                },
                [](B &b, Value t) {
                  return firstWins(b, t, arith::CmpFPredicate::OLE, false);
                }});
  // select(c, x, y): the taken side
  elementwise<arith::SelectOp>(
      context,
      {nullptr,
       [](B &b, Value t) { return b.select(b.operand(0), t, b.constant(0)); },
       [](B &b, Value t) { return b.select(b.operand(0), b.constant(0), t); }});
  elementwise<arith::ExtFOp>(context, {convertFloat});
  elementwise<arith::TruncFOp>(context, {convertFloat});
}

void mlir::grad::registerArithRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

//===- ComplexRules.cpp - Derivatives of the complex dialect --------------===//
//
// The gradient g of a real loss is PyTorch's: dL = Re(conj(g) dz). Forward mode
// multiplies a tangent by the derivative of a holomorphic op, reverse mode a
// cotangent by the conjugate of it. The others have a formula for each mode.
//
//===----------------------------------------------------------------------===//

#include "GradDialect.h"
#include "Rules/Rules.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace mlir::grad;

namespace {
/// Emits arithmetic on complex numbers for the rule of one op.
class ComplexBuilder {
public:
  ComplexBuilder(OpBuilder &builder, Operation *op) : b(builder), op(op) {}

  Value operand(unsigned i = 0) const { return op->getOperand(i); }
  Value result() const { return op->getResult(0); }

  /// A real constant of the type of the first operand.
  Value constant(double value) {
    return filled(b, op->getLoc(), operand().getType(), value);
  }
  Value add(Value x, Value y) { return make<complex::AddOp>(x, y); }
  Value sub(Value x, Value y) { return make<complex::SubOp>(x, y); }
  Value mul(Value x, Value y) { return make<complex::MulOp>(x, y); }
  Value div(Value x, Value y) { return make<complex::DivOp>(x, y); }
  Value neg(Value x) { return make<complex::NegOp>(x); }
  Value square(Value x) { return mul(x, x); }
  Value conj(Value x) { return make<complex::ConjOp>(x); }
  Value scale(Value x, double k) { return mul(x, constant(k)); }
  Value equal(Value x, Value y) {
    return complex::EqualOp::create(b, op->getLoc(), x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, op->getLoc(), c, x, y);
  }
  Value re(Value x) { return make<complex::ReOp>(x); }
  Value im(Value x) { return make<complex::ImOp>(x); }
  Value create(Value re, Value im) {
    auto type = ComplexType::get(re.getType());
    return complex::CreateOp::create(b, op->getLoc(), type, re, im);
  }
  Value zero(Type type) { return zeros(b, op->getLoc(), type); }
  /// x in the direction of one real unit.
  Value fromReal(Value x) { return create(x, zero(x.getType())); }
  /// Re(conj(x) y)
  Value inner(Value x, Value y) { return re(mul(conj(x), y)); }
  template <typename OpTy, typename... Operands>
  Value make(Operands... operands) {
    return OpTy::create(b, op->getLoc(), operands...);
  }
  OpBuilder &builder() { return b; }
  Location getLoc() const { return op->getLoc(); }

private:
  OpBuilder &b;
  Operation *op;
};

using B = ComplexBuilder;
/// The derivative of a holomorphic op by one operand.
using Slope = Value (*)(B &);
/// What a derivative that is no complex number does to `t`.
using Map = Value (*)(B &, Value t);

template <typename OpTy>
struct Holomorphic
    : DifferentiableOpInterface::ExternalModel<Holomorphic<OpTy>, OpTy> {
  static inline SmallVector<Slope> slopes;

  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    Value cotangent = vjp.cotangent(op->getResult(0));
    if (!cotangent)
      return success();
    B rule(vjp.builder(), op);
    for (auto [operand, slope] : llvm::zip(op->getOperands(), slopes))
      if (vjp.needs(operand))
        vjp.accumulate(operand, rule.mul(cotangent, rule.conj(slope(rule))));
    return success();
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    B rule(jvp.builder(), op);
    Value sum;
    for (auto [operand, slope] : llvm::zip(op->getOperands(), slopes)) {
      Value tangent = jvp.tangent(operand);
      if (!tangent)
        continue;
      Value term = rule.mul(tangent, slope(rule));
      sum = sum ? rule.add(sum, term) : term;
    }
    if (sum)
      jvp.setTangent(op->getResult(0), sum);
    return success();
  }
};

template <typename OpTy>
struct RealLinear
    : DifferentiableOpInterface::ExternalModel<RealLinear<OpTy>, OpTy> {
  static inline SmallVector<Map> reverse, forward;

  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    Value cotangent = vjp.cotangent(op->getResult(0));
    if (!cotangent)
      return success();
    B rule(vjp.builder(), op);
    for (auto [operand, map] : llvm::zip(op->getOperands(), reverse))
      if (vjp.needs(operand))
        vjp.accumulate(operand, map(rule, cotangent));
    return success();
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    B rule(jvp.builder(), op);
    Value sum;
    for (auto [operand, map] : llvm::zip(op->getOperands(), forward)) {
      Value tangent = jvp.tangent(operand);
      if (!tangent)
        continue;
      Value term = map(rule, tangent);
      sum = sum ? addInto(rule.builder(), rule.getLoc(), sum, term) : term;
    }
    if (sum)
      jvp.setTangent(op->getResult(0), sum);
    return success();
  }
};
} // namespace

template <typename OpTy>
static void holomorphic(MLIRContext *context,
                        std::initializer_list<Slope> slopes) {
  Holomorphic<OpTy>::slopes.assign(slopes);
  OpTy::template attachInterface<Holomorphic<OpTy>>(*context);
}

/// For ops that are linear over the reals: what reverse and forward mode do.
template <typename OpTy>
static void realLinear(MLIRContext *context, std::initializer_list<Map> reverse,
                       std::initializer_list<Map> forward) {
  RealLinear<OpTy>::reverse.assign(reverse);
  RealLinear<OpTy>::forward.assign(forward);
  OpTy::template attachInterface<RealLinear<OpTy>>(*context);
}

static Value same(B &, Value t) { return t; }
static Value negated(B &b, Value t) { return b.neg(t); }
static Value conjugated(B &b, Value t) { return b.conj(t); }

static void attachArithmetic(MLIRContext *context) {
  realLinear<complex::AddOp>(context, {same, same}, {same, same});
  realLinear<complex::SubOp>(context, {same, negated}, {same, negated});
  realLinear<complex::NegOp>(context, {negated}, {negated});
  realLinear<complex::ConjOp>(context, {conjugated}, {conjugated});
  // The parts of a complex number, and a number of two parts
  realLinear<complex::ReOp>(context,
                            {[](B &b, Value t) { return b.fromReal(t); }},
                            {[](B &b, Value t) { return b.re(t); }});
  realLinear<complex::ImOp>(
      context, {[](B &b, Value t) { return b.create(b.zero(t.getType()), t); }},
      {[](B &b, Value t) { return b.im(t); }});
  realLinear<complex::CreateOp>(
      context,
      {[](B &b, Value t) { return b.re(t); },
       [](B &b, Value t) { return b.im(t); }},
      {[](B &b, Value t) { return b.fromReal(t); },
       [](B &b, Value t) { return b.create(b.zero(t.getType()), t); }});
  // d(x y) = y dx + x dy
  holomorphic<complex::MulOp>(context, {[](B &b) { return b.operand(1); },
                                        [](B &b) { return b.operand(0); }});
  // d(x / y) = dx / y - (x / y) / y dy
  holomorphic<complex::DivOp>(
      context, {[](B &b) { return b.div(b.constant(1), b.operand(1)); },
                [](B &b) { return b.neg(b.div(b.result(), b.operand(1))); }});
}

/// i x
static Value turned(B &b, Value x) {
  Value im = b.im(x);
  return b.create(arith::NegFOp::create(b.builder(), b.getLoc(), im), b.re(x));
}

/// (t - s Re(conj(s) t)) / |z|, where s = z / |z|; zero at zero.
static Value turnOfSign(B &b, Value t) {
  Value z = b.operand(), sign = b.result();
  Value along = b.mul(sign, b.fromReal(b.inner(sign, t)));
  Value size = b.fromReal(b.make<complex::AbsOp>(z));
  Value zero = b.constant(0);
  return b.select(b.equal(z, zero), zero, b.div(b.sub(t, along), size));
}

/// i z / |z|^2, zero at zero.
static Value slopeOfAngle(B &b) {
  Value z = b.operand(), zero = b.constant(0);
  Value slope = b.div(turned(b, z), b.mul(z, b.conj(z)));
  return b.select(b.equal(z, zero), zero, slope);
}

static void attachPolar(MLIRContext *context) {
  // d |z| = Re(conj(sign z) dz), zero at zero
  realLinear<complex::AbsOp>(
      context, {[](B &b, Value t) {
        return b.mul(b.fromReal(t), b.make<complex::SignOp>(b.operand()));
      }},
      {[](B &b, Value t) {
        return b.inner(b.make<complex::SignOp>(b.operand()), t);
      }});
  realLinear<complex::SignOp>(context, {turnOfSign}, {turnOfSign});
  // d angle(z) = Im(dz / z), zero at zero
  realLinear<complex::AngleOp>(
      context,
      {[](B &b, Value t) { return b.mul(b.fromReal(t), slopeOfAngle(b)); }},
      {[](B &b, Value t) { return b.inner(slopeOfAngle(b), t); }});
}

/// y x^(y - 1), zero for y = 0.
static Value slopeOfBase(B &b) {
  Value y = b.operand(1), zero = b.constant(0);
  Value power = b.make<complex::PowOp>(b.operand(0), b.sub(y, b.constant(1)));
  return b.select(b.equal(y, zero), zero, b.mul(y, power));
}
/// n x^(n - 1) for an integer n, zero for n = 0.
static Value slopeOfIntegerPower(B &b) {
  OpBuilder &builder = b.builder();
  Location loc = b.getLoc();
  Value n = b.operand(1);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(n.getType(), value));
  };
  Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       n, constant(0));
  // Not x^-1, whose derivative need not be finite.
  Value exponent = b.select(isZero, constant(1), n);
  Value less = arith::SubIOp::create(builder, loc, exponent, constant(1));
  Type part = cast<ComplexType>(b.result().getType()).getElementType();
  Value factor = arith::SIToFPOp::create(builder, loc, part, n);
  return b.mul(b.fromReal(factor),
               complex::PowiOp::create(builder, loc, b.result().getType(),
                                       b.operand(0), less,
                                       arith::FastMathFlagsAttr()));
}
/// x^y log x, zero for x = 0 and a real part of y that is not negative.
static Value slopeOfExponent(B &b) {
  Value x = b.operand(0), zero = b.constant(0);
  Value part = b.re(b.operand(1));
  Value grows =
      arith::CmpFOp::create(b.builder(), b.getLoc(), arith::CmpFPredicate::OGE,
                            part, b.zero(part.getType()));
  Value flat =
      arith::AndIOp::create(b.builder(), b.getLoc(), b.equal(x, zero), grows);
  return b.select(flat, zero, b.mul(b.result(), b.make<complex::LogOp>(x)));
}

/// y^2 + x^2
static Value squaredNorm(B &b) {
  return b.add(b.square(b.operand(0)), b.square(b.operand(1)));
}

static void attachFunctions(MLIRContext *context) {
  holomorphic<complex::ExpOp>(context, {[](B &b) { return b.result(); }});
  holomorphic<complex::Expm1Op>(
      context, {[](B &b) { return b.add(b.result(), b.constant(1)); }});
  holomorphic<complex::LogOp>(
      context, {[](B &b) { return b.div(b.constant(1), b.operand()); }});
  holomorphic<complex::Log1pOp>(context, {[](B &b) {
                                  Value sum = b.add(b.operand(), b.constant(1));
                                  return b.div(b.constant(1), sum);
                                }});
  holomorphic<complex::PowOp>(context, {slopeOfBase, slopeOfExponent});
  holomorphic<complex::PowiOp>(context, {slopeOfIntegerPower});
  // d sqrt(z) = dz / (2 sqrt(z)), d rsqrt(z) = -1/2 rsqrt(z)^3 dz
  holomorphic<complex::SqrtOp>(
      context, {[](B &b) { return b.div(b.constant(0.5), b.result()); }});
  holomorphic<complex::RsqrtOp>(
      context, {[](B &b) {
        return b.scale(b.mul(b.square(b.result()), b.result()), -0.5);
      }});
  holomorphic<complex::SinOp>(
      context, {[](B &b) { return b.make<complex::CosOp>(b.operand()); }});
  holomorphic<complex::CosOp>(
      context,
      {[](B &b) { return b.neg(b.make<complex::SinOp>(b.operand())); }});
  // d atan2(y, x) = (x dy - y dx) / (y^2 + x^2)
  holomorphic<complex::Atan2Op>(
      context,
      {[](B &b) { return b.div(b.operand(1), squaredNorm(b)); },
       [](B &b) { return b.neg(b.div(b.operand(0), squaredNorm(b))); }});
  holomorphic<complex::TanOp>(
      context,
      {[](B &b) { return b.add(b.constant(1), b.square(b.result())); }});
  holomorphic<complex::TanhOp>(
      context,
      {[](B &b) { return b.sub(b.constant(1), b.square(b.result())); }});
}

static void attach(MLIRContext *context, complex::ComplexDialect *) {
  attachArithmetic(context);
  attachPolar(context);
  attachFunctions(context);
}

void mlir::grad::registerComplexRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

//===- MathRules.cpp - Derivatives of the math dialect --------------------===//

#include "Rules/Elementwise.h"
#include "Rules/Expansion.h"
#include "Rules/Rules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::grad;

using B = RuleBuilder;

/// 1 - x^2 and x^2 + 1, which the inverse functions divide by.
static Value oneMinusSquare(B &b, Value x) {
  return b.sub(b.constant(1), b.square(x));
}
static Value squarePlusOne(B &b, Value x) {
  return b.add(b.square(x), b.constant(1));
}
/// 1 / (y^2 + x^2), zero at the origin as PyTorch has it for atan2.
static Value reciprocalSquaredNorm(B &b) {
  Value norm = b.add(b.square(b.operand(0)), b.square(b.operand(1)));
  Value zero = b.constant(0);
  return b.select(b.equal(norm, zero), zero, b.div(b.constant(1), norm));
}
/// -1, 0 or 1.
static Value sign(B &b, Value x) {
  Value zero = b.constant(0);
  return b.select(b.less(zero, x), b.constant(1),
                  b.select(b.less(x, zero), b.constant(-1), zero));
}
/// 2 / sqrt(pi) exp(-x^2) t
static Value erfSlope(B &b, Value t) {
  Value gauss = b.make<math::ExpOp>(b.neg(b.square(b.operand())));
  return b.mul(b.scale(gauss, 2 * llvm::numbers::inv_sqrtpi), t);
}

static void attachExponentials(MLIRContext *context) {
  // d exp(x) = exp(x) dx
  elementwise<math::ExpOp>(
      context, {[](B &b, Value t) { return b.mul(t, b.result()); }});
  // d 2^x = ln 2 2^x dx
  elementwise<math::Exp2Op>(context, {[](B &b, Value t) {
                              return b.scale(b.mul(t, b.result()),
                                             llvm::numbers::ln2);
                            }});
  // d expm1(x) = (expm1(x) + 1) dx
  elementwise<math::ExpM1Op>(context, {[](B &b, Value t) {
                               return b.mul(t,
                                            b.add(b.result(), b.constant(1)));
                             }});
  // d log(x) = dx / x
  elementwise<math::LogOp>(
      context, {[](B &b, Value t) { return b.div(t, b.operand()); }});
  // d log1p(x) = dx / (x + 1)
  elementwise<math::Log1pOp>(context, {[](B &b, Value t) {
                               return b.div(t,
                                            b.add(b.operand(), b.constant(1)));
                             }});
  // d log2(x) = dx / (x ln 2)
  elementwise<math::Log2Op>(context, {[](B &b, Value t) {
                              return b.div(
                                  t, b.scale(b.operand(), llvm::numbers::ln2));
                            }});
  // d log10(x) = dx / (x ln 10)
  elementwise<math::Log10Op>(
      context, {[](B &b, Value t) {
        return b.div(t, b.scale(b.operand(), llvm::numbers::ln10));
      }});
}

static void attachPowers(MLIRContext *context) {
  // d sqrt(x) = dx / (2 sqrt(x))
  elementwise<math::SqrtOp>(context, {[](B &b, Value t) {
                              return b.div(t, b.scale(b.result(), 2));
                            }});
  // d rsqrt(x) = -1/2 rsqrt(x)^3 dx
  elementwise<math::RsqrtOp>(
      context, {[](B &b, Value t) {
        return b.mul(b.scale(t, -0.5), b.mul(b.square(b.result()), b.result()));
      }});
  // d cbrt(x) = dx / (3 cbrt(x)^2)
  elementwise<math::CbrtOp>(context, {[](B &b, Value t) {
                              return b.div(t, b.scale(b.square(b.result()), 3));
                            }});
  // d x^y = y x^(y-1) dx, zero for y = 0; + x^y ln x dy, zero for x = 0 <= y
  elementwise<math::PowFOp>(
      context,
      {[](B &b, Value t) {
         Value y = b.operand(1), zero = b.constant(0);
         Value power =
             b.make<math::PowFOp>(b.operand(0), b.sub(y, b.constant(1)));
         return b.select(b.equal(y, zero), zero, b.mul(t, b.mul(y, power)));
       },
       [](B &b, Value t) {
         Value x = b.operand(0), zero = b.constant(0);
         Value flat = arith::AndIOp::create(
             b.builder(), b.getOp()->getLoc(), b.equal(x, zero),
             b.compare(arith::CmpFPredicate::OGE, b.operand(1), zero));
         Value slope = b.mul(b.result(), b.make<math::LogOp>(x));
         return b.mul(t, b.select(flat, zero, slope));
       }});
  // d x^n = n x^(n-1) dx, zero for n = 0
  elementwise<math::FPowIOp>(
      context,
      {[](B &b, Value t) {
         OpBuilder &builder = b.builder();
         Location loc = b.getOp()->getLoc();
         Value n = b.operand(1);
         auto constant = [&](int64_t value) -> Value {
           Type element = getElementTypeOrSelf(n.getType());
           return b.splat(builder.getIntegerAttr(element, value), n.getType());
         };
         Value isZero = arith::CmpIOp::create(
             builder, loc, arith::CmpIPredicate::eq, n, constant(0));
         // Not x^-1, whose derivative need not be finite.
         Value exponent = b.select(isZero, constant(1), n);
         Value less =
             arith::SubIOp::create(builder, loc, exponent, constant(1));
         Value power = math::FPowIOp::create(builder, loc, b.operand(0), less);
         Value factor =
             arith::SIToFPOp::create(builder, loc, b.result().getType(), n);
         return b.select(isZero, b.constant(0), b.mul(t, b.mul(factor, power)));
       },
       nullptr});
}

static void attachTrigonometry(MLIRContext *context) {
  // d sin(x) = cos(x) dx
  elementwise<math::SinOp>(context, {[](B &b, Value t) {
                             return b.mul(t, b.make<math::CosOp>(b.operand()));
                           }});
  // d cos(x) = -sin(x) dx
  elementwise<math::CosOp>(context, {[](B &b, Value t) {
                             return b.neg(
                                 b.mul(t, b.make<math::SinOp>(b.operand())));
                           }});
  // sincos(x) = sin(x), cos(x)
  expansion<math::SincosOp>(
      context,
      [](OpBuilder &b, math::SincosOp op) -> FailureOr<SmallVector<Value>> {
        Value x = op.getOperand();
        return SmallVector<Value>{math::SinOp::create(b, op.getLoc(), x),
                                  math::CosOp::create(b, op.getLoc(), x)};
      });
  // d tan(x) = (1 + tan(x)^2) dx
  elementwise<math::TanOp>(context, {[](B &b, Value t) {
                             return b.mul(t, squarePlusOne(b, b.result()));
                           }});
  // d asin(x) = dx / sqrt(1 - x^2)
  elementwise<math::AsinOp>(
      context, {[](B &b, Value t) {
        return b.mul(t, b.make<math::RsqrtOp>(oneMinusSquare(b, b.operand())));
      }});
  // d acos(x) = -dx / sqrt(1 - x^2)
  elementwise<math::AcosOp>(
      context, {[](B &b, Value t) {
        return b.mul(
            t, b.neg(b.make<math::RsqrtOp>(oneMinusSquare(b, b.operand()))));
      }});
  // d atan(x) = dx / (x^2 + 1)
  elementwise<math::AtanOp>(context, {[](B &b, Value t) {
                              return b.div(t, squarePlusOne(b, b.operand()));
                            }});
  // d atan2(y, x) = (x dy - y dx) / (y^2 + x^2)
  elementwise<math::Atan2Op>(
      context,
      {[](B &b, Value t) {
         return b.mul(b.mul(t, b.operand(1)), reciprocalSquaredNorm(b));
       },
       [](B &b, Value t) {
         return b.mul(b.mul(t, b.neg(b.operand(0))), reciprocalSquaredNorm(b));
       }});
  // d sinh(x) = cosh(x) dx
  elementwise<math::SinhOp>(context, {[](B &b, Value t) {
                              return b.mul(t,
                                           b.make<math::CoshOp>(b.operand()));
                            }});
  // d cosh(x) = sinh(x) dx
  elementwise<math::CoshOp>(context, {[](B &b, Value t) {
                              return b.mul(t,
                                           b.make<math::SinhOp>(b.operand()));
                            }});
  // d tanh(x) = (1 - tanh(x)^2) dx
  elementwise<math::TanhOp>(context, {[](B &b, Value t) {
                              return b.mul(t, oneMinusSquare(b, b.result()));
                            }});
  // d asinh(x) = dx / sqrt(x^2 + 1)
  elementwise<math::AsinhOp>(
      context, {[](B &b, Value t) {
        return b.mul(t, b.make<math::RsqrtOp>(squarePlusOne(b, b.operand())));
      }});
  // d acosh(x) = dx / sqrt(x^2 - 1)
  elementwise<math::AcoshOp>(context, {[](B &b, Value t) {
                               Value root =
                                   b.sub(b.square(b.operand()), b.constant(1));
                               return b.mul(t, b.make<math::RsqrtOp>(root));
                             }});
  // d atanh(x) = dx / (1 - x^2)
  elementwise<math::AtanhOp>(context, {[](B &b, Value t) {
                               return b.div(t, oneMinusSquare(b, b.operand()));
                             }});
}

static void attach(MLIRContext *context, math::MathDialect *) {
  attachExponentials(context);
  attachPowers(context);
  attachTrigonometry(context);
  // d erf(x) = 2 / sqrt(pi) exp(-x^2) dx, and erfc(x) = 1 - erf(x)
  elementwise<math::ErfOp>(context, {erfSlope});
  elementwise<math::ErfcOp>(
      context, {[](B &b, Value t) { return b.neg(erfSlope(b, t)); }});
  // d |x| = sign(x) dx, zero at zero
  elementwise<math::AbsFOp>(
      context, {[](B &b, Value t) { return b.mul(t, sign(b, b.operand())); }});
  // d copysign(x, y) = copysign(x, y) / x dx, zero at zero
  elementwise<math::CopySignOp>(
      context, {[](B &b, Value t) {
                  Value x = b.operand(0), zero = b.constant(0);
                  Value ratio = b.div(b.result(), x);
                  return b.mul(t, b.select(b.equal(x, zero), zero, ratio));
                },
                nullptr});
  // d clamp(x, low, high): dx from low to high, and the bound's where the
  // result is that bound alone
  elementwise<math::ClampFOp>(
      context, {[](B &b, Value t) {
                  Value x = b.operand(0), zero = b.constant(0);
                  Value inside =
                      b.select(b.lessEqual(x, b.operand(2)), t, zero);
                  return b.select(b.lessEqual(b.operand(1), x), inside, zero);
                },
                [](B &b, Value t) {
                  Value low = b.operand(1), zero = b.constant(0);
                  Value below = b.select(b.less(b.operand(0), low), t, zero);
                  return b.select(b.less(low, b.operand(2)), below, zero);
                },
                [](B &b, Value t) {
                  Value high = b.operand(2), zero = b.constant(0);
                  Value above = b.select(b.less(high, b.operand(0)), t, zero);
                  return b.select(b.less(high, b.operand(1)), t, above);
                }});
  // d(a b + c) = b da + a db + dc
  elementwise<math::FmaOp>(
      context, {[](B &b, Value t) { return b.mul(t, b.operand(1)); },
                [](B &b, Value t) { return b.mul(t, b.operand(0)); },
                [](B &, Value t) { return t; }});
  zeroDerivative<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
                 math::TruncOp>(context);
}

void mlir::grad::registerMathRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

//===- ExponentialFunctions.cpp - exp, log and what follows from them -----===//
//
// After Cephes and fdlibm. In f32, pow, log1p and expm1 go through f64, which
// rounds the result once.
//
//===----------------------------------------------------------------------===//

#include "MathEmitter.h"

using namespace mlir;
using namespace mlir::grad;

/// exp(x) = 2^n exp(r) with n = round(x / ln 2) and r = x - n ln 2.
Value MathEmitter::exp(Value x) {
  using P = arith::CmpFPredicate;
  // Beyond these the result is infinite, or rounds to zero.
  double high = isDouble() ? 710.0 : 89.0, low = isDouble() ? -746.0 : -104.0;
  Value y = select(compare(P::OGT, x, high), constant(high), x);
  y = select(compare(P::OLT, y, low), constant(low), y);
  double shift = isDouble() ? 6755399441055744.0 : 12582912.0;
  Value shifted = add(mul(y, constant(1.4426950408889634074)), constant(shift));
  Value n = subInt(toBits(shifted), toBits(constant(shift)));
  Value rounded = sub(shifted, constant(shift));
  Value r, p;
  if (isDouble()) {
    r = fma(rounded, constant(-6.93147180369123816490e-01), y);
    r = fma(rounded, constant(-1.90821492927058770002e-10), r);
    p = polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
                       1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                       1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  } else {
    r = fma(rounded, constant(-0.693359375), y);
    r = fma(rounded, constant(2.12194440e-4), r);
    p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                       4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  }
  p = add(fma(p, mul(r, r), r), constant(1));
  // In two steps, because 2^n itself may be out of range.
  Value half = shiftRight(n, 1);
  return mul(mul(p, powerOfTwo(half)), powerOfTwo(subInt(n, half)));
}

/// log(x) = k ln 2 + log(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
Value MathEmitter::log(Value x) {
  using P = arith::CmpFPredicate;
  int64_t bits = mantissaBits();
  double smallest = isDouble() ? 2.2250738585072014e-308 : 1.17549435e-38;
  double scale = isDouble() ? 18014398509481984.0 : 33554432.0;
  Value isTiny = compare(P::OLT, x, smallest);
  Value scaled = select(isTiny, mul(x, constant(scale)), x);
  Value scaleBits =
      select(isTiny, constantInt(isDouble() ? -54 : -25), constantInt(0));

  // Moving the bits of sqrt(1/2) to zero puts the mantissa in its interval.
  Value root = toBits(constant(0.70710678118654752440));
  Value moved = subInt(toBits(scaled), root);
  Value k = addInt(shiftRight(moved, bits), scaleBits);
  Value mantissa =
      fromBits(addInt(andInt(moved, (int64_t(1) << bits) - 1), root));
  Value f = sub(mantissa, constant(1));
  Value s = div(f, add(f, constant(2)));
  Value z = mul(s, s);
  Value series =
      isDouble()
          ? polynomial(z, {1.479819860511658591e-01, 1.531383769920937332e-01,
                           1.818357216161805012e-01, 2.222219843214978396e-01,
                           2.857142874366239149e-01, 3.999999999940941908e-01,
                           6.666666666666735130e-01})
          : polynomial(z, {0.24279078841, 0.28498786688, 0.40000972152,
                           0.66666662693});
  Value rest = mul(series, z);
  Value halfSquare = mul(mul(f, f), constant(0.5));
  Value exponent = toFloat(k);
  double ln2High = isDouble() ? 6.93147180369123816490e-01 : 6.9313812256e-01;
  double ln2Low = isDouble() ? 1.90821492927058770002e-10 : 9.0580006145e-06;
  // k ln2High - ((f^2/2 - (s (f^2/2 + rest) + k ln2Low)) - f)
  Value inner = fma(s, add(halfSquare, rest), mul(exponent, constant(ln2Low)));
  Value result =
      sub(mul(exponent, constant(ln2High)), sub(sub(halfSquare, inner), f));

  double infinity = std::numeric_limits<double>::infinity();
  result = select(compare(P::OEQ, x, infinity), x, result);
  result = select(compare(P::OEQ, x, 0.0), constant(-infinity), result);
  Value isValid = compare(P::OGE, x, 0.0);
  return select(isValid, result,
                constant(std::numeric_limits<double>::quiet_NaN()));
}

/// A rational function near zero, 1 - 2 / (exp(2|x|) + 1) elsewhere.
Value MathEmitter::tanh(Value x) {
  Value magnitude = abs(x);
  Value z = mul(x, x);
  Value ratio = isDouble() ? div(polynomial(z, {-9.64399179425052238628e-1,
                                                -9.92877231001918586564e1,
                                                -1.61468768441708447952e3}),
                                 polynomial(z, {1.0, 1.12811678491632931402e2,
                                                2.23548839060100448583e3,
                                                4.84406305325125486048e3}))
                           : polynomial(z, {-5.70498872745e-3, 2.06390887954e-2,
                                            -5.37397155531e-2, 1.33314422036e-1,
                                            -3.33332819422e-1});
  Value small = fma(mul(ratio, z), magnitude, magnitude);
  Value grown = exp(add(magnitude, magnitude));
  Value large = sub(constant(1), div(constant(2), add(grown, constant(1))));
  Value result = select(compare(arith::CmpFPredicate::OLT, magnitude, 0.625),
                        small, large);
  return math::CopySignOp::create(builder, loc, result, x);
}

/// A polynomial near zero, 1 - exp(-x^2) g(1 / x^2) / |x| elsewhere. In f32
/// only.
Value MathEmitter::erf(Value x) {
  using P = arith::CmpFPredicate;
  Value magnitude = abs(x);
  Value square = mul(x, x);
  // x + x p(x^2): p is small, and so are the errors it makes.
  Value small =
      fma(x,
          polynomial(square, {7.853861353153693e-5, -8.010193625184903e-4,
                              5.188327685732524e-3, -2.685381193529856e-2,
                              1.128358514861418e-1, -3.761262582423300e-1,
                              0.128379165726710}),
          x);
  Value inverse = div(constant(1), magnitude);
  Value z = mul(inverse, inverse);
  Value middle = polynomial(
      z, {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1,
          -5.824733027278666e-1, 6.210004621745983e-1, -4.944515323274145e-1,
          3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1});
  Value far = polynomial(z, {-1.047766399936249e+1, 1.297719955372516e+1,
                             -7.495518717768503, 2.921019019210786,
                             -1.015265279202700, 4.218463358204948e-1,
                             -2.820767439740514e-1, 5.641895067754075e-1});
  Value g = select(compare(P::OLT, magnitude, 2.0), middle, far);
  Value tail = mul(mul(exp(sub(constant(0), square)), inverse), g);
  Value large =
      math::CopySignOp::create(builder, loc, sub(constant(1), tail), x);
  return select(compare(P::OLT, magnitude, 1.0), small, large);
}

/// log(1 + x), or two terms of the series where 1 + x loses digits. In f32
/// only.
Value MathEmitter::log1p(Value x) {
  MathEmitter in = wide();
  Value y = widen(x);
  Value series = in.sub(y, in.mul(in.mul(y, y), in.constant(0.5)));
  Value large = in.log(in.add(y, in.constant(1)));
  Value isSmall = in.compare(arith::CmpFPredicate::OLT, in.abs(y), 0x1p-20);
  return narrow(in.select(isSmall, series, large));
}

/// exp(x) - 1, or two terms of the series where the difference cancels. In
/// f32 only.
Value MathEmitter::expm1(Value x) {
  MathEmitter in = wide();
  Value y = widen(x);
  Value series = in.fma(in.mul(y, in.constant(0.5)), y, y);
  Value large = in.sub(in.exp(y), in.constant(1));
  Value isSmall = in.compare(arith::CmpFPredicate::OLT, in.abs(y), 0x1p-18);
  return copySign(narrow(in.select(isSmall, series, large)), x);
}

/// exp(y log |x|) with the sign and the special values of C's pow. In f32
/// only.
Value MathEmitter::pow(Value x, Value y) {
  using P = arith::CmpFPredicate;
  MathEmitter in = wide();
  double infinity = std::numeric_limits<double>::infinity();
  Value base = in.widen(x), exponent = in.widen(y);
  Value magnitude = in.abs(base);
  Value result = in.exp(in.mul(exponent, in.log(magnitude)));

  // Integers are their own floor, even ones have a half that is.
  Value half = in.mul(exponent, in.constant(0.5));
  Value isInteger = in.equal(exponent, in.floor(exponent));
  Value isOdd = in.both(isInteger, in.differs(half, in.floor(half)));
  result = in.select(isOdd, in.copySign(result, base), result);
  Value isNegative = in.both(in.compare(P::OLT, base, 0.0),
                             in.compare(P::OGT, base, -infinity));
  Value isFinite = in.compare(P::OLT, in.abs(exponent), infinity);
  Value isUndefined = in.both(in.both(isNegative, isFinite),
                              in.differs(exponent, in.floor(exponent)));
  result =
      in.select(isUndefined,
                in.constant(std::numeric_limits<double>::quiet_NaN()), result);
  // 1 whatever the other is, NaN too; and (-1)^inf.
  Value isOne = in.either(in.compare(P::OEQ, exponent, 0.0),
                          in.compare(P::OEQ, base, 1.0));
  isOne =
      in.either(isOne, in.both(in.compare(P::OEQ, magnitude, 1.0),
                               in.compare(P::OEQ, in.abs(exponent), infinity)));
  return narrow(in.select(isOne, in.constant(1), result));
}

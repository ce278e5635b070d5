//===- TrigonometricFunctions.cpp - sin and cos in f32 --------------------===//
//
// The angle is reduced in f64, by those bits of 2/pi that count for numbers of
// its size (Payne and Hanek). The polynomials are those of Cephes.
//
//===----------------------------------------------------------------------===//

#include "MathEmitter.h"

using namespace mlir;
using namespace mlir::grad;

namespace {
/// 2/pi for the numbers from `from` on, without the bits whose product with any
/// of them is a multiple of 4: two parts of 29 bits, whose products with an f32
/// are exact, and the rest.
struct Factor {
  double from;
  double parts[3];
};
} // namespace

/// The interval after 2^e ends before 2^(e + 26): products with the first part
/// are below 2^51, and what is rounded off in the end is below 2^-60. The f32
/// closest to a multiple of pi/2 is 2^-30 away.
static constexpr Factor factors[] = {
    {0.0, {0x1.45f306d000000p-1, 0x1.9391054000000p-30, 0x1.4fe13abe8fa9ap-59}},
    {0x1p50,
     {0x1.b939105000000p-26, 0x1.29fc274000000p-56, 0x1.7d1f534ddc0dbp-84}},
    {0x1p76,
     {0x1.529fc27000000p-52, 0x1.5f47d4c000000p-82, 0x1.377036d8a5665p-110}},
    {0x1p102,
     {0x1.d5f47d4000000p-78, 0x1.a6ee06d000000p-107, 0x1.6295993c43904p-136}}};

MathEmitter::Angle MathEmitter::reduceAngle(Value x) {
  MathEmitter in = wide();
  Value y = in.widen(x), magnitude = in.abs(y);
  Value parts[3];
  for (int part : {0, 1, 2})
    parts[part] = in.constant(factors[0].parts[part]);
  for (const Factor &factor : ArrayRef(factors).drop_front()) {
    Value isHere =
        in.compare(arith::CmpFPredicate::OGE, magnitude, factor.from);
    for (int part : {0, 1, 2})
      parts[part] =
          in.select(isHere, in.constant(factor.parts[part]), parts[part]);
  }

  // Adding this rounds to an integer, which is then in the low bits.
  Value shift = in.constant(6755399441055744.0);
  auto round = [&](Value a) { return in.sub(in.add(a, shift), shift); };
  Value first = in.mul(y, parts[0]), second = in.mul(y, parts[1]);
  Value turns = round(first);
  Value fraction = in.sub(first, turns);
  Value more = round(in.add(second, fraction));
  fraction = in.add(in.sub(second, more), fraction);
  fraction = in.fma(y, parts[2], fraction);
  Value quarters = in.toBits(in.add(in.add(turns, more), shift));
  return {truncToInt32(quarters),
          in.mul(fraction, in.constant(1.57079632679489655800))};
}

Value MathEmitter::sinOrCos(Value x, int64_t quarterTurns) {
  Angle angle = reduceAngle(x);
  Value quarters = addInt(angle.quarterTurns, constantInt(quarterTurns));
  // The rest as a sum: what r alone is rounded by would cost half a unit.
  MathEmitter in = wide();
  Value r = narrow(angle.rest), rLow = narrow(in.sub(angle.rest, in.widen(r)));

  Value z = mul(r, r);
  Value sine =
      polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = add(r, fma(mul(sine, z), r, rLow));
  Value cosine = polynomial(
      z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  // 1 - z/2 and what its rounding lost.
  Value head = fma(z, constant(-0.5), constant(1));
  Value lost = fma(z, constant(-0.5), sub(constant(1), head));
  cosine = fma(mul(z, z), cosine, fma(sub(constant(0), rLow), r, lost));
  cosine = add(head, cosine);
  Value isOdd = isInt(arith::CmpIPredicate::ne, andInt(quarters, 1), 0);
  Value result = select(isOdd, cosine, sine);
  Value sign = shiftLeft(andInt(quarters, 2), 30);
  result = fromBits(xorInt(toBits(result), sign));
  // The sine of -0 is -0.
  return quarterTurns == 0
             ? select(compare(arith::CmpFPredicate::OEQ, x, 0.0), x, result)
             : result;
}

//===- MathEmitter.h - Elementary functions as arithmetic -------*- C++ -*-===//
//
// LLVM vectorizes arithmetic, not calls of libm. The expansions follow Cephes
// and fdlibm: reduce the argument, evaluate a polynomial, undo the reduction.
// Every one of them keeps to 2 units in the last place, passes NaN through,
// and gives the limits at infinities, zeros and where the result over- or
// underflows. There are no branches, and no conversion from float to integer
// that could be out of range: integers are read from the bits of a sum with
// a number whose last mantissa bit is worth 1.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_LOWER_CPU_MATHEMITTER_H
#define GRADC_LOWER_CPU_MATHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::grad {

/// Emits scalar arithmetic in one floating-point type.
class MathEmitter {
public:
  MathEmitter(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(cast<FloatType>(type)),
        integer(builder.getIntegerType(this->type.getWidth())) {}

  bool isDouble() const { return type.isF64(); }

  Value constant(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value constantInt(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(integer, value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  /// a * b + c, rounded once.
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, constant(b));
  }
  Value toBits(Value a) {
    return arith::BitcastOp::create(builder, loc, integer, a);
  }
  Value fromBits(Value a) {
    return arith::BitcastOp::create(builder, loc, type, a);
  }
  Value addInt(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value subInt(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value shiftLeft(Value a, int64_t count) {
    return arith::ShLIOp::create(builder, loc, a, constantInt(count));
  }
  Value shiftRight(Value a, int64_t count) {
    return arith::ShRSIOp::create(builder, loc, a, constantInt(count));
  }
  Value andInt(Value a, int64_t mask) {
    return arith::AndIOp::create(builder, loc, a, constantInt(mask));
  }
  Value toFloat(Value a) {
    return arith::SIToFPOp::create(builder, loc, type, a);
  }

  /// Polynomial in `x`, coefficients from the highest power down.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value result = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, x, constant(coefficient));
    return result;
  }

  int64_t mantissaBits() const { return isDouble() ? 52 : 23; }
  int64_t exponentBias() const { return isDouble() ? 1023 : 127; }

  /// 2^n for an integer n in the range of normal exponents.
  Value powerOfTwo(Value n) {
    return fromBits(
        shiftLeft(addInt(n, constantInt(exponentBias())), mantissaBits()));
  }

  Value truncToInt32(Value a) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), a);
  }
  Value orInt(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value xorInt(Value a, Value b) {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  Value isInt(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(
        builder, loc, predicate, a,
        arith::ConstantOp::create(builder, loc,
                                  builder.getIntegerAttr(a.getType(), b)));
  }
  Value floor(Value a) { return math::FloorOp::create(builder, loc, a); }
  Value copySign(Value a, Value sign) {
    return math::CopySignOp::create(builder, loc, a, sign);
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) { return orInt(a, b); }
  Value equal(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
  }
  Value differs(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, a, b);
  }

  /// An emitter of f64 at the same place, and the way there and back.
  MathEmitter wide() const { return {builder, loc, builder.getF64Type()}; }
  Value widen(Value a) {
    return arith::ExtFOp::create(builder, loc, builder.getF64Type(), a);
  }
  Value narrow(Value a) {
    return arith::TruncFOp::create(builder, loc, type, a);
  }

  Value exp(Value x);
  Value log(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x) { return sinOrCos(x, /*quarterTurns=*/0); }
  Value cos(Value x) { return sinOrCos(x, /*quarterTurns=*/1); }
  Value log1p(Value x);
  Value expm1(Value x);
  Value pow(Value x, Value y);

private:
  /// x as `quarterTurns` quarter turns and a rest of at most an eighth turn, in
  /// radians.
  struct Angle {
    Value quarterTurns;
    Value rest;
  };
  Angle reduceAngle(Value x);
  Value sinOrCos(Value x, int64_t quarterTurns);

  OpBuilder &builder;
  Location loc;
  FloatType type;
  IntegerType integer;
};

} // namespace mlir::grad

#endif // GRADC_LOWER_CPU_MATHEMITTER_H

//===- Elementwise.h - One-line derivative rules ----------------*- C++ -*-===//
//
// An elementwise op is described by one partial derivative an operand. A
// partial is written as what it does to a tangent or cotangent `t`: both are
// multiplied by the same number, so one formula serves both modes, and a
// partial that selects (`arith.select`) does not have to multiply by zero.
//
//   // d tanh(x) = (1 - tanh(x)^2) dx
//   elementwise<math::TanhOp>(context, {[](RuleBuilder &b, Value t) {
//     return b.mul(t, b.sub(b.constant(1), b.mul(b.result(), b.result())));
//   }});
//
// The formulas follow PyTorch's derivatives.yaml, which also fixes their
// values at kinks and singular points.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_ELEMENTWISE_H
#define GRADC_RULES_ELEMENTWISE_H

#include "GradDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::grad {

/// Emits arithmetic on floats, or on tensors of them, for the rule of one op.
class RuleBuilder {
public:
  RuleBuilder(OpBuilder &builder, Operation *op) : b(builder), op(op) {}

  Value operand(unsigned i = 0) const { return op->getOperand(i); }
  Value result() const { return op->getResult(0); }
  Operation *getOp() const { return op; }

  /// A constant of the type of the op's result.
  Value constant(double value) { return constant(value, result().getType()); }
  Value constant(double value, Type type);
  /// A value of `type` whose elements are all `value`.
  Value splat(TypedAttr value, Type type);

  Value add(Value x, Value y) { return make<arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return make<arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return make<arith::DivFOp>(x, y); }
  Value neg(Value x) { return make<arith::NegFOp>(x); }
  Value square(Value x) { return mul(x, x); }
  Value scale(Value x, double k) { return mul(x, constant(k, x.getType())); }
  Value select(Value c, Value x, Value y) {
    return make<arith::SelectOp>(c, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, op->getLoc(), predicate, x, y);
  }
  Value equal(Value x, Value y) {
    return compare(arith::CmpFPredicate::OEQ, x, y);
  }
  Value less(Value x, Value y) {
    return compare(arith::CmpFPredicate::OLT, x, y);
  }
  Value lessEqual(Value x, Value y) {
    return compare(arith::CmpFPredicate::OLE, x, y);
  }
  /// An op with operands and result of one type.
  template <typename OpTy, typename... Operands>
  Value make(Operands... operands) {
    return OpTy::create(b, op->getLoc(), operands...);
  }
  OpBuilder &builder() { return b; }

private:
  OpBuilder &b;
  Operation *op;
};

/// What the partial derivative by one operand does to `t`. Null is a
/// derivative that is identically zero, or an operand that can have none.
using Partial = Value (*)(RuleBuilder &, Value t);

namespace detail {
LogicalResult emitElementwiseVjp(Operation *op, ArrayRef<Partial> partials,
                                 VjpBuilder &builder);
LogicalResult emitElementwiseJvp(Operation *op, ArrayRef<Partial> partials,
                                 JvpBuilder &builder);

template <typename OpTy>
struct ElementwiseModel
    : DifferentiableOpInterface::ExternalModel<ElementwiseModel<OpTy>, OpTy> {
  static inline SmallVector<Partial> partials;

  LogicalResult emitVjp(Operation *op, VjpBuilder &builder) const {
    return emitElementwiseVjp(op, partials, builder);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &builder) const {
    return emitElementwiseJvp(op, partials, builder);
  }
};
} // namespace detail

/// Gives `OpTy` a derivative: one partial an operand.
template <typename OpTy>
void elementwise(MLIRContext *context,
                 std::initializer_list<Partial> partials) {
  detail::ElementwiseModel<OpTy>::partials.assign(partials);
  OpTy::template attachInterface<detail::ElementwiseModel<OpTy>>(*context);
}

/// Gives each op a derivative that is identically zero. Its result stays
/// connected to the operands: the gradient is zeros, not None.
template <typename... OpTys>
void zeroDerivative(MLIRContext *context) {
  (elementwise<OpTys>(context, {nullptr}), ...);
}

} // namespace mlir::grad

#endif // GRADC_RULES_ELEMENTWISE_H

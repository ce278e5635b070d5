//===- Elementwise.cpp - One-line derivative rules ------------------------===//

#include "Rules/Elementwise.h"

#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::grad;

Value RuleBuilder::constant(double value, Type type) {
  // Of complex numbers, rules only ask for zeros.
  if (isa<ComplexType>(getElementTypeOrSelf(type)))
    return zerosLike(b, op->getLoc(), result());
  return splat(b.getFloatAttr(getElementTypeOrSelf(type), value), type);
}

Value RuleBuilder::splat(TypedAttr value, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.hasStaticShape())
    value = DenseElementsAttr::get(shaped, value);
  Value constant = arith::ConstantOp::create(b, op->getLoc(), value);
  if (!shaped || shaped.hasStaticShape())
    return constant;
  // The operands of an elementwise op have the shape of its result.
  Value empty = emptyLike(b, op->getLoc(), result(), value.getType());
  return linalg::FillOp::create(b, op->getLoc(), constant, empty).getResult(0);
}

static bool isComplex(Value value) {
  return isa<ComplexType>(getElementTypeOrSelf(value.getType()));
}

/// Complex derivatives need conjugates that the partials do not have, but for
/// a choice.
static LogicalResult refuseComplex(Operation *op) {
  if (!isa<arith::SelectOp>(op) && isComplex(op->getResult(0)))
    return op->emitOpError("has no derivative rule for complex numbers");
  return success();
}

LogicalResult mlir::grad::detail::emitElementwiseVjp(Operation *op,
                                                     ArrayRef<Partial> partials,
                                                     VjpBuilder &builder) {
  if (failed(refuseComplex(op)))
    return failure();
  Value cotangent = builder.cotangent(op->getResult(0));
  if (!cotangent)
    return success();
  RuleBuilder rule(builder.builder(), op);
  for (auto [operand, partial] : llvm::zip(op->getOperands(), partials))
    if (partial && builder.needs(operand))
      builder.accumulate(operand, partial(rule, cotangent));
  return success();
}

LogicalResult mlir::grad::detail::emitElementwiseJvp(Operation *op,
                                                     ArrayRef<Partial> partials,
                                                     JvpBuilder &builder) {
  if (failed(refuseComplex(op)))
    return failure();
  RuleBuilder rule(builder.builder(), op);
  Value sum;
  for (auto [operand, partial] : llvm::zip(op->getOperands(), partials)) {
    Value tangent = builder.tangent(operand);
    if (!partial || !tangent)
      continue;
    Value term = partial(rule, tangent);
    if (!sum)
      sum = term;
    else if (isComplex(term))
      sum = addInto(builder.builder(), op->getLoc(), sum, term);
    else
      sum = rule.add(sum, term);
  }
  if (sum)
    builder.setTangent(op->getResult(0), sum);
  return success();
}

//===- Elementwise.cpp - One-line derivative rules ------------------------===//

#include "Rules/Elementwise.h"

using namespace mlir;
using namespace mlir::grad;

Value RuleBuilder::constant(double value, Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  TypedAttr attr = b.getFloatAttr(element, value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(b, op->getLoc(), attr);
}

/// Complex derivatives need conjugates that the partials do not have.
static LogicalResult refuseComplex(Operation *op) {
  if (isa<ComplexType>(getElementTypeOrSelf(op->getResult(0).getType())))
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
    sum = sum ? rule.add(sum, term) : term;
  }
  if (sum)
    builder.setTangent(op->getResult(0), sum);
  return success();
}

//===- GradOps.cpp - Operations of the grad dialect -----------------------===//
//
// Verifiers, folders and derivatives of the barriers. The derivative of a
// barrier is the statement of where its gradient goes.
//
//===----------------------------------------------------------------------===//

#include "GradDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::grad;

/// One type that stands for both of an operand and a result.
static ParseResult parseSameType(OpAsmParser &parser, Type &operandType,
                                 Type &resultType) {
  if (parser.parseType(operandType))
    return failure();
  resultType = operandType;
  return success();
}

static void printSameType(OpAsmPrinter &printer, Operation *, Type operandType,
                          Type) {
  printer << operandType;
}

#define GET_OP_CLASSES
#include "GradOps.cpp.inc"

/// True for integers, indices and tensors and vectors of them, which are
/// constants at every level of differentiation.
static bool canNeverHaveGradient(Type type) {
  if (isa<TensorType, VectorType>(type))
    type = cast<ShapedType>(type).getElementType();
  return type.isIntOrIndex();
}

/// Verifies that the types of an identity on values agree.
static LogicalResult verifyIdentity(Operation *op, Type input, Type result) {
  if (isSameButGradient(input, result))
    return success();
  return op->emitOpError("result type ")
         << result << " differs from operand type " << input
         << " in more than #grad.requires_grad";
}

//===----------------------------------------------------------------------===//
// StopGradientOp
//===----------------------------------------------------------------------===//

LogicalResult StopGradientOp::verify() {
  return verifyIdentity(*this, getInput().getType(), getType());
}

OpFoldResult StopGradientOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() != getType())
    return {};
  // A constant is one at every level, and so is what cannot have a gradient.
  if (Attribute constant = adaptor.getInput())
    return constant;
  if (canNeverHaveGradient(getType()))
    return getInput();
  // stop(stop(x)) -> stop(x)
  if (getInput().getDefiningOp<StopGradientOp>())
    return getInput();
  return {};
}

bool StopGradientOp::carriesGradient(OpOperand &, OpResult) { return false; }
LogicalResult StopGradientOp::emitVjp(VjpBuilder &) { return success(); }
LogicalResult StopGradientOp::emitJvp(JvpBuilder &) { return success(); }

//===----------------------------------------------------------------------===//
// ValueOfOp
//===----------------------------------------------------------------------===//

LogicalResult ValueOfOp::verify() {
  if (failed(verifyIdentity(*this, getValue().getType(), getType())))
    return failure();
  return verifyIdentity(*this, getGradientPath().getType(), getType());
}

OpFoldResult ValueOfOp::fold(FoldAdaptor) {
  if (getValue().getType() != getType())
    return {};
  // value_of(x, x) -> x
  if (getValue() == getGradientPath() || canNeverHaveGradient(getType()))
    return getValue();
  return {};
}

LogicalResult ValueOfOp::canonicalize(ValueOfOp op, PatternRewriter &rewriter) {
  // A path that carries nothing at any level leaves a barrier.
  if (!op.getGradientPath().getDefiningOp<StopGradientOp>() &&
      !matchPattern(op.getGradientPath(), m_Constant()))
    return rewriter.notifyMatchFailure(op, "gradient path may carry");
  rewriter.replaceOpWithNewOp<StopGradientOp>(op, op.getType(), op.getValue());
  return success();
}

bool ValueOfOp::carriesGradient(OpOperand &operand, OpResult) {
  return &operand == &getGradientPathMutable();
}

LogicalResult ValueOfOp::emitVjp(VjpBuilder &builder) {
  builder.accumulate(getGradientPath(), builder.cotangent(getResult()));
  return success();
}

LogicalResult ValueOfOp::emitJvp(JvpBuilder &builder) {
  if (Value tangent = builder.tangent(getGradientPath()))
    builder.setTangent(getResult(), tangent);
  return success();
}

//===----------------------------------------------------------------------===//
// LeafOp
//===----------------------------------------------------------------------===//

LogicalResult LeafOp::verify() {
  if (!isDifferentiableType(getType()))
    return emitOpError("of type ")
           << getType()
           << " cannot require a gradient: only floating-point and complex "
              "values can";
  return verifyIdentity(*this, getInput().getType(), getType());
}

bool LeafOp::carriesGradient(OpOperand &, OpResult) { return false; }
LogicalResult LeafOp::emitVjp(VjpBuilder &) { return success(); }
LogicalResult LeafOp::emitJvp(JvpBuilder &) { return success(); }

//===----------------------------------------------------------------------===//
// PromoteOp
//===----------------------------------------------------------------------===//

LogicalResult PromoteOp::verify() {
  return verifyIdentity(*this, getInput().getType(), getType());
}

OpFoldResult PromoteOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // promote(promote(x)) -> promote(x)
  if (auto inner = getInput().getDefiningOp<PromoteOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

LogicalResult PromoteOp::emitVjp(VjpBuilder &builder) {
  builder.accumulate(getInput(), builder.cotangent(getResult()));
  return success();
}

LogicalResult PromoteOp::emitJvp(JvpBuilder &builder) {
  if (Value tangent = builder.tangent(getInput()))
    builder.setTangent(getResult(), tangent);
  return success();
}

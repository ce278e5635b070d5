//===- GradScheduleOps.cpp - When values are computed ---------------------===//

#include "GradScheduleOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::grad;

#define GET_OP_CLASSES
#include "GradScheduleOps.cpp.inc"

bool AfterOp::carriesGradient(OpOperand &operand, OpResult) {
  return &operand == &getInputMutable();
}

/// The derivative of an identity is one.
template <typename OpTy>
static LogicalResult passCotangent(OpTy op, VjpBuilder &builder) {
  builder.accumulate(op.getInput(), builder.cotangent(op.getResult()));
  return success();
}

template <typename OpTy>
static LogicalResult passTangent(OpTy op, JvpBuilder &builder) {
  if (Value tangent = builder.tangent(op.getInput()))
    builder.setTangent(op.getResult(), tangent);
  return success();
}

LogicalResult AfterOp::emitVjp(VjpBuilder &builder) {
  return passCotangent(*this, builder);
}
LogicalResult AfterOp::emitJvp(JvpBuilder &builder) {
  return passTangent(*this, builder);
}

LogicalResult EnterCheckpointOp::emitVjp(VjpBuilder &builder) {
  return passCotangent(*this, builder);
}
LogicalResult EnterCheckpointOp::emitJvp(JvpBuilder &builder) {
  return passTangent(*this, builder);
}

LogicalResult LeaveCheckpointOp::emitVjp(VjpBuilder &builder) {
  return passCotangent(*this, builder);
}
LogicalResult LeaveCheckpointOp::emitJvp(JvpBuilder &builder) {
  return passTangent(*this, builder);
}

//===- LoopStack.cpp - Values of every iteration of a loop ----------------===//

#include "Rules/LoopStack.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

std::optional<int64_t> mlir::grad::getStackedBytes(Type type) {
  int64_t elements = 1;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!tensor.hasStaticShape())
      return std::nullopt;
    elements = tensor.getNumElements();
    type = tensor.getElementType();
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    elements *= 2;
    type = complex.getElementType();
  }
  if (!type.isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return elements * llvm::divideCeil(bits, 8);
}

Value mlir::grad::createStack(OpBuilder &builder, Location loc, Type type,
                              Value slots) {
  SmallVector<OpFoldResult> sizes = {getAsOpFoldResult(slots)};
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    llvm::append_range(
        sizes, getAsIndexOpFoldResult(builder.getContext(), tensor.getShape()));
    type = tensor.getElementType();
  }
  return tensor::EmptyOp::create(builder, loc, sizes, type);
}

namespace {
/// One slot, as a slice of the stack.
struct Slot {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Slot(OpBuilder &builder, Value position, RankedTensorType type)
      : offsets(type.getRank() + 1, builder.getIndexAttr(0)),
        sizes({builder.getIndexAttr(1)}),
        strides(type.getRank() + 1, builder.getIndexAttr(1)) {
    offsets.front() = getAsOpFoldResult(position);
    llvm::append_range(
        sizes, getAsIndexOpFoldResult(builder.getContext(), type.getShape()));
  }
};
} // namespace

Value mlir::grad::writeStack(OpBuilder &builder, Location loc, Value stack,
                             Value position, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return tensor::InsertOp::create(builder, loc, value, stack, position);
  Slot slot(builder, position, type);
  return tensor::InsertSliceOp::create(builder, loc, value, stack, slot.offsets,
                                       slot.sizes, slot.strides);
}

Value mlir::grad::readStack(OpBuilder &builder, Location loc, Value stack,
                            Value position, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return tensor::ExtractOp::create(builder, loc, stack, position);
  Slot slot(builder, position, tensor);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, stack,
                                        slot.offsets, slot.sizes, slot.strides);
}

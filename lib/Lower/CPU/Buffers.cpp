//===- Buffers.cpp - What buffers lie behind memrefs ----------------------===//

#include "Lower/CPU/Buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::grad;

Value grad::getBufferRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// True for a value that is a whole piece of memory, and the only name of it.
static bool isAllocation(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
      root.getDefiningOp());
}

bool grad::areDistinct(Value a, Value b) {
  a = getBufferRoot(a);
  b = getBufferRoot(b);
  return a != b && isAllocation(a) && isAllocation(b);
}

std::optional<StaticLayout> grad::getStaticLayout(MemRefType type) {
  StaticLayout layout;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(layout.strides, layout.offset)) ||
      llvm::any_of(layout.strides, ShapedType::isDynamic))
    return std::nullopt;
  return layout;
}

//===- Buffers.h - What buffers lie behind memrefs --------------*- C++ -*-===//

#ifndef GRADC_LOWER_CPU_BUFFERS_H
#define GRADC_LOWER_CPU_BUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::grad {

/// The value that `buffer` is a view of, through any number of view ops.
Value getBufferRoot(Value buffer);

/// True when two buffers certainly share no memory that anyone writes: they
/// are, or are views of, different allocations or function arguments.
bool areDistinct(Value a, Value b);

/// A layout in elements, of static shape and strides. The offset may be
/// `ShapedType::kDynamic`, as in a slice that a loop takes.
struct StaticLayout {
  SmallVector<int64_t> strides;
  int64_t offset;

  bool hasStaticOffset() const { return !ShapedType::isDynamic(offset); }
};
std::optional<StaticLayout> getStaticLayout(MemRefType type);

} // namespace mlir::grad

#endif // GRADC_LOWER_CPU_BUFFERS_H

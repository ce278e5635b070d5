//===- LoopStack.h - Values of every iteration of a loop --------*- C++ -*-===//
//
// The adjoint of a loop reads values of iterations that are over. A stack is a
// tensor with one more dimension in front, one slot an iteration.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_LOOPSTACK_H
#define GRADC_RULES_LOOPSTACK_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace mlir::grad {

/// Bytes of a value of `type`; none when stacks cannot hold such values.
std::optional<int64_t> getStackedBytes(Type type);

/// A stack of `slots` values of `type`, not initialised.
Value createStack(OpBuilder &builder, Location loc, Type type, Value slots);

/// `stack` with `value` in slot `position`.
Value writeStack(OpBuilder &builder, Location loc, Value stack, Value position,
                 Value value);

/// The value of `type` in slot `position`.
Value readStack(OpBuilder &builder, Location loc, Value stack, Value position,
                Type type);

} // namespace mlir::grad

#endif // GRADC_RULES_LOOPSTACK_H

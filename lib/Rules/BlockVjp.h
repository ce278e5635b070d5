//===- BlockVjp.h - Reverse mode over a block -------------------*- C++ -*-===//
//
// The engine of reverse mode: walks the ops of a block backwards and runs the
// rule of each op that received a cotangent. The body of a function and the
// scalar body of a structured op are both such blocks, so one set of rules
// serves both.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_BLOCKVJP_H
#define GRADC_RULES_BLOCKVJP_H

#include "GradDialect.h"

namespace mlir::grad {

class BlockVjp : public VjpBuilder {
public:
  /// `needs` decides which primal values get a cotangent. `explain`, when
  /// given, adds notes to the error about an op without a rule.
  BlockVjp(OpBuilder &builder, std::function<bool(Value)> needs,
           std::function<void(Operation *, Diagnostic &)> explain = {})
      : b(builder), needsFn(std::move(needs)), explain(std::move(explain)) {}

  /// Runs the rules of `ops`, which are in program order, last op first, with
  /// the cotangents seeded by `accumulate`. Emits at the insertion point of
  /// the builder.
  LogicalResult run(ArrayRef<Operation *> ops);

  OpBuilder &builder() override { return b; }
  Value cotangent(Value value) override { return cotangents.lookup(value); }
  bool needs(Value value) override { return needsFn(value); }
  void accumulate(Value value, Value cotangent) override;
  Value takeCotangent(Value value) override;
  void setCotangent(Value value, Value cotangent) override;

private:
  OpBuilder &b;
  std::function<bool(Value)> needsFn;
  std::function<void(Operation *, Diagnostic &)> explain;
  DenseMap<Value, Value> cotangents;
};

} // namespace mlir::grad

#endif // GRADC_RULES_BLOCKVJP_H

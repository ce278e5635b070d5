//===- BlockJvp.h - Forward mode over a block -------------------*- C++ -*-===//
//
// The engine of forward mode: walks the ops of a block in order and runs the
// rule of each op that reads a tangent. Like BlockVjp it serves the body of a
// function and the scalar body of a structured op alike.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_BLOCKJVP_H
#define GRADC_RULES_BLOCKJVP_H

#include "GradDialect.h"

namespace mlir::grad {

class BlockJvp : public JvpBuilder {
public:
  /// `outer`, when given, knows the tangents of values from outside the block.
  /// `needs`, when given, says which tangents are used. `explain`, when given,
  /// adds notes to the error about an op without a rule.
  BlockJvp(OpBuilder &builder, JvpBuilder *outer = nullptr,
           std::function<bool(Value)> needs = {},
           std::function<void(Operation *, Diagnostic &)> explain = {})
      : b(builder), outer(outer), needsFn(std::move(needs)),
        explain(std::move(explain)) {}

  /// Runs the rules of `ops`, which are in program order. Emits after each op,
  /// before whatever reads its results.
  LogicalResult run(ArrayRef<Operation *> ops);

  OpBuilder &builder() override { return b; }
  Value tangent(Value value) override {
    if (Value known = tangents.lookup(value))
      return known;
    return outer ? outer->tangent(value) : Value();
  }
  bool needs(Value value) override { return !needsFn || needsFn(value); }
  void setTangent(Value value, Value tangent) override {
    tangents[value] = tangent;
  }

private:
  OpBuilder &b;
  JvpBuilder *outer;
  std::function<bool(Value)> needsFn;
  std::function<void(Operation *, Diagnostic &)> explain;
  DenseMap<Value, Value> tangents;
};

} // namespace mlir::grad

#endif // GRADC_RULES_BLOCKJVP_H

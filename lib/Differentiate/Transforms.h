//===- Transforms.h - Expansion of vjp, jvp and vmap ------------*- C++ -*-===//
//
// Expansion works on a plain copy of the callee in which calls are inlined and
// inner transforms are expanded already, so each level of differentiation is
// inferred by itself, innermost first, and nothing of an outer level is seen.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_DIFFERENTIATE_TRANSFORMS_H
#define GRADC_DIFFERENTIATE_TRANSFORMS_H

#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::grad {

class TransformExpander {
public:
  explicit TransformExpander(ModuleOp module)
      : module(module), symbols(module) {}

  /// Replaces every transform below `root` by a call of the function that
  /// computes it.
  LogicalResult expandAll(Operation *root);

  /// A private copy of `callee`, named after it and `suffix`, as described
  /// above. The caller erases it or keeps it. Calls of functions with a custom
  /// rule stay calls; if `callee` has one, the copy calls it, unless `useRule`
  /// is false.
  FailureOr<func::FuncOp> prepare(func::FuncOp callee, StringRef suffix,
                                  bool useRule = true);

  /// Erases a function made by `prepare`.
  void erase(func::FuncOp func) { symbols.erase(func); }

  /// Ops created by derivative rules so far.
  int64_t getNumCreated() const { return numCreated; }

private:
  /// The function that computes a transform, made when it is first needed.
  FailureOr<func::FuncOp> getFunction(Operation *transform);
  /// Turns `func` into its `grad.vjp`, or its `grad.jvp`.
  LogicalResult derive(func::FuncOp func, ArrayRef<int64_t> wrt, bool isVjp);
  LogicalResult inlineCalls(func::FuncOp func);
  /// Inlines calls and expands transforms.
  LogicalResult flatten(func::FuncOp func);
  /// Gives `batched`, made of `callee` for `vmap`, the custom rule of `callee`.
  LogicalResult batchCustomRule(func::FuncOp callee, func::FuncOp batched,
                                VmapOp vmap);

  ModuleOp module;
  SymbolTable symbols;
  /// The functions made so far, by callee, kind of transform and what else the
  /// transform says.
  using Key = std::pair<Operation *, std::pair<Attribute, Attribute>>;
  llvm::DenseMap<Key, func::FuncOp> functions;
  /// Callees being expanded, to refuse recursion.
  SmallVector<StringAttr> active;
  int64_t numCreated = 0;
};

/// The values that `func` returns.
OperandRange getReturned(func::FuncOp func);

/// The name an argument goes by in messages: its `grad.name`, or its number.
std::string describeArgument(BlockArgument argument);

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_TRANSFORMS_H

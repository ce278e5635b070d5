//===- Inference.h - Inference of requires_grad types -----------*- C++ -*-===//
//
// Works in three steps over the functions of a module, whose types are plain
// by then:
//
// (1) Find the instances: pairs of a function and the arguments of it that are
//     roots. They start from the functions that have to stay as they are, with
//     their own roots, and spread along calls and transforms. Each instance is
//     analysed once, callees before callers. InferInstances.cpp.
// (2) Give each instance a function: the original, or a clone.
// (3) Write the types of each, and direct its calls at the instances they need.
//     Both in InferRequiresGrad.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_DIFFERENTIATE_INFERENCE_H
#define GRADC_DIFFERENTIATE_INFERENCE_H

#include "Analysis/GradientAnalysis.h"
#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace mlir::grad {

/// A function and the arguments of it that are roots.
struct Instance {
  func::FuncOp origin;
  llvm::BitVector roots;
  /// Results that require a gradient; known with the analysis.
  llvm::BitVector results;
  std::optional<GradientAnalysis> analysis;
  /// A call that was met while its callee was being analysed.
  Operation *recursiveCall = nullptr;
  /// The function that has this instance's types.
  func::FuncOp function;
};

class Inference {
public:
  /// Notes the roots, which are in the types that are erased next.
  explicit Inference(ModuleOp module) : module(module), symbolTable(module) {
    findOwnRoots();
  }

  /// Infers the types of the functions of the module, which are plain.
  LogicalResult run();

private:
  void findOwnRoots();
  LogicalResult checkFunctionPointers();
  bool isPinned(func::FuncOp function);
  Instance *getInstance(func::FuncOp function, const llvm::BitVector &roots,
                        Operation *user);
  LogicalResult analyse(Instance &instance);
  FailureOr<GradientAnalysis> analyse(func::FuncOp function,
                                      const llvm::BitVector &roots);
  llvm::BitVector analyseCall(CallOpInterface call,
                              const llvm::BitVector &active);
  FailureOr<Instance *> getCallee(Operation *op,
                                  const GradientAnalysis &analysis);
  LogicalResult use(Instance *instance);
  void assignFunctions();
  LogicalResult write(Instance &instance);
  LogicalResult checkExternalCalls(func::FuncOp function,
                                   const GradientAnalysis &analysis);

  /// The function with a body that is called `name`, or null.
  func::FuncOp lookup(StringRef name) {
    auto function = symbolTable.lookup<func::FuncOp>(name);
    return function && !function.isExternal() ? function : func::FuncOp();
  }

  ModuleOp module;
  SymbolTable symbolTable;
  llvm::MapVector<Operation *, llvm::BitVector> ownRoots;
  DenseMap<Operation *, SmallVector<std::unique_ptr<Instance>>> instances;
  /// The instances that are needed, in the order found.
  llvm::SetVector<Instance *> used;
  bool failedInCall = false;
};

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_INFERENCE_H

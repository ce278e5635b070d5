//===- GradientAnalysis.h - Which values need a gradient --------*- C++ -*-===//
//
// To understand the analyses, start with CarriesGradient.h, which defines what
// it means for one op to pass a gradient on; RequiresGradAnalysis follows it
// forward from the roots, UsefulAnalysis backward from the outputs. This class
// runs both over one function and keeps the answers.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_ANALYSIS_GRADIENTANALYSIS_H
#define GRADC_ANALYSIS_GRADIENTANALYSIS_H

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::grad {

/// What the analyses have to know about calls. Both functions have to be
/// monotone. By default every differentiable operand reaches every
/// differentiable result, except under `grad.no_grad`.
struct CallModel {
  /// Results that require a gradient when the given operands do.
  std::function<llvm::BitVector(CallOpInterface, const llvm::BitVector &)>
      requiresGrad;
  /// Operands that reach one of the given results.
  std::function<llvm::BitVector(CallOpInterface, const llvm::BitVector &)>
      useful;
};

class GradientAnalysis {
public:
  /// Analyses the body of `function`, whose tensors are taken as plain. `roots`
  /// are the values that require a gradient, `outputs` those whose cotangent
  /// is asked for, usually operands of the terminator. Fails, with an error,
  /// when a value that requires a gradient is stored to memory, where it
  /// cannot be followed.
  static FailureOr<GradientAnalysis> compute(FunctionOpInterface function,
                                             ArrayRef<Value> roots,
                                             ArrayRef<Value> outputs,
                                             const CallModel &calls = {});

  /// The value depends on a root.
  bool requiresGrad(Value value) const { return required.contains(value); }
  /// The value reaches an output.
  bool isUseful(Value value) const { return useful.contains(value); }
  /// Both: the value gets a cotangent.
  bool needsGradient(Value value) const {
    return requiresGrad(value) && isUseful(value);
  }

private:
  llvm::DenseSet<Value> required;
  llvm::DenseSet<Value> useful;
};

} // namespace mlir::grad

#endif // GRADC_ANALYSIS_GRADIENTANALYSIS_H

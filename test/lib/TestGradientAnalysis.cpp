//===- TestGradientAnalysis.cpp - Show the analyses as remarks ------------===//
//
// `--grad-test-gradient-analysis` analyses each function by itself, from the
// arguments with the attribute `grad.requires_grad` to the returned values, and
// remarks on every op with the attribute `tag`, one answer a result.
//
//===----------------------------------------------------------------------===//

#include "Analysis/GradientAnalysis.h"
#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::grad;

static StringRef describe(const GradientAnalysis &analysis, Value value) {
  if (analysis.needsGradient(value))
    return "needs";
  if (analysis.requiresGrad(value))
    return "required";
  return analysis.isUseful(value) ? "useful" : "constant";
}

namespace {
struct TestGradientAnalysisPass
    : PassWrapper<TestGradientAnalysisPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestGradientAnalysisPass)

  StringRef getArgument() const final { return "grad-test-gradient-analysis"; }
  StringRef getDescription() const final {
    return "show what the gradient analyses say of tagged ops";
  }
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SmallVector<Value> roots, outputs;
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), kRequiresGradArg))
        roots.push_back(argument);
    function.walk([&](func::ReturnOp op) {
      llvm::append_range(outputs, op.getOperands());
    });
    FailureOr<GradientAnalysis> analysis =
        GradientAnalysis::compute(function, roots, outputs);
    if (failed(analysis))
      return signalPassFailure();
    function.walk([&](Operation *op) {
      auto tag = op->getAttrOfType<StringAttr>("tag");
      if (!tag)
        return;
      InFlightDiagnostic remark = op->emitRemark() << tag.getValue() << ":";
      for (Value result : op->getResults())
        remark << " " << describe(*analysis, result);
    });
  }
};
} // namespace

namespace mlir::grad::test {
void registerTestGradientAnalysis() {
  PassRegistration<TestGradientAnalysisPass>();
}
} // namespace mlir::grad::test

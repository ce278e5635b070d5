//===- Differentiate.cpp - Expand the transforms of a module --------------===//

#include "Differentiate/Encodings.h"
#include "Differentiate/LowerRegions.h"
#include "Differentiate/Passes.h"
#include "Differentiate/Transforms.h"
#include "Rules/Checkpoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::grad {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
struct DifferentiatePass
    : grad::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    eraseEncodings(module);
    specializeCallsUnderNoGrad(module);
    lowerGradRegions(module);
    SmallVector<func::FuncOp> funcs(module.getOps<func::FuncOp>());
    TransformExpander expander(module);
    for (func::FuncOp func : funcs)
      if (failed(expander.expandAll(func)))
        return signalPassFailure();
    dissolveCheckpoints(module);
    numCreated += expander.getNumCreated();
  }
};
} // namespace

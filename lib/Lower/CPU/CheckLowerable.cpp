//===- CheckLowerable.cpp - Refuse what cannot be compiled ----------------===//

#include "GradScheduleOps.h"
#include "Lower/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace mlir::grad {
#define GEN_PASS_DEF_CHECKLOWERABLEPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

static bool isLowered(Dialect *dialect) {
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                         bufferization::BufferizationDialect,
                         cf::ControlFlowDialect, complex::ComplexDialect,
                         func::FuncDialect, index::IndexDialect,
                         linalg::LinalgDialect, math::MathDialect,
                         scf::SCFDialect, tensor::TensorDialect, ub::UBDialect>(
      dialect);
}

/// A public boundary passes pointers to dense data of known size.
static LogicalResult checkBoundary(func::FuncOp function, TypeRange types,
                                   StringRef what) {
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return function.emitOpError()
             << what << " " << i << " of type " << type
             << " cannot cross into compiled code; public functions take and "
                "return ranked tensors";
    if (!tensor.hasStaticShape())
      return function.emitOpError()
             << what << " " << i << " of type " << type
             << " has a dynamic shape; compile the function for static shapes";
    Type element = tensor.getElementType();
    if (auto integer = dyn_cast<IntegerType>(element);
        integer && integer.getWidth() != 1 && integer.getWidth() != 8 &&
        integer.getWidth() != 16 && integer.getWidth() != 32 &&
        integer.getWidth() != 64)
      return function.emitOpError() << what << " " << i << " of type " << type
                                    << " has elements that no framework stores";
    bool isFloat = element.isF16() || element.isBF16() || element.isF32() ||
                   element.isF64();
    auto complex = dyn_cast<ComplexType>(element);
    bool isComplex = complex && (complex.getElementType().isF32() ||
                                 complex.getElementType().isF64());
    if (!isa<IntegerType, IndexType>(element) && !isFloat && !isComplex)
      return function.emitOpError() << what << " " << i << " of type " << type
                                    << " has an unsupported element type";
  }
  return success();
}

static LogicalResult checkOp(Operation *op) {
  if (isa<grad::ScatterAddOp>(op->getParentOp()) || isa<ScatterAddOp>(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.emitOpError()
           << "to '" << call.getCallee()
           << "' cannot be inlined: the callee is recursive or has no body";
  if (isa<AfterOp>(op))
    return success();
  if (op->getDialect() && isLowered(op->getDialect()))
    return success();
  return op->emitOpError("is not supported by the CPU pipeline");
}

namespace {
struct CheckLowerablePass
    : grad::impl::CheckLowerablePassBase<CheckLowerablePass> {
  void runOnOperation() override {
    bool failedAny = false;
    for (Operation &top : *getOperation().getBody()) {
      auto function = dyn_cast<func::FuncOp>(top);
      if (!function) {
        top.emitOpError("is not supported by the CPU pipeline");
        failedAny = true;
        continue;
      }
      if (function.isDeclaration())
        continue;
      if (function.isPublic()) {
        FunctionType type = function.getFunctionType();
        failedAny |=
            failed(checkBoundary(function, type.getInputs(), "argument")) ||
            failed(checkBoundary(function, type.getResults(), "result"));
      }
      if (!function.getBody().hasOneBlock()) {
        function.emitOpError(
            "has control flow between blocks; use the scf dialect");
        failedAny = true;
        continue;
      }
      function.getBody().walk([&](Operation *op) {
        bool failedHere = failed(checkOp(op));
        failedAny |= failedHere;
        return failedHere ? WalkResult::interrupt() : WalkResult::advance();
      });
    }
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace

//===- GuardIndices.cpp - Reads at computed positions stay in bounds ------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::grad {
#define GEN_PASS_DEF_GUARDINDICESPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// True when an assertion compares `value`, or the integer it was cast from.
static bool isChecked(Value value) {
  auto isAsserted = [](Value compared) {
    return llvm::any_of(compared.getUsers(), [](Operation *user) {
      return isa<arith::CmpIOp>(user) &&
             llvm::any_of(user->getUsers(), [](Operation *reader) {
               return isa<cf::AssertOp>(reader);
             });
    });
  };
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return isAsserted(value) || (cast && isAsserted(cast.getIn()));
}

/// True when `value` is a loop index, which the bounds of the loop keep in
/// range, or a constant, which the verifier of the source has seen.
static bool isSafe(Value value) {
  return value.getDefiningOp<linalg::IndexOp>() ||
         matchPattern(value, m_Constant());
}

namespace {
struct GuardIndicesPass : grad::impl::GuardIndicesPassBase<GuardIndicesPass> {
  void runOnOperation() override {
    getOperation().walk([](tensor::ExtractOp extract) {
      if (!extract->getParentOfType<linalg::GenericOp>())
        return;
      OpBuilder builder(extract);
      Location loc = extract.getLoc();
      RankedTensorType type = extract.getTensor().getType();
      for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
        if (type.isDynamicDim(dim) || isSafe(index) || isChecked(index))
          continue;
        Value size =
            arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim));
        // As an unsigned number a negative index is a large one.
        Value inBounds = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ult, index, size);
        cf::AssertOp::create(builder, loc, inBounds, "index out of range");
      }
    });
  }
};
} // namespace

//===- DropAfter.cpp - Order as it is written -----------------------------===//

#include "GradScheduleOps.h"
#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_DROPAFTERPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
struct DropAfterPass : grad::impl::DropAfterPassBase<DropAfterPass> {
  void runOnOperation() override {
    getOperation().walk([](AfterOp op) {
      op.replaceAllUsesWith(op.getInput());
      op.erase();
    });
  }
};
} // namespace

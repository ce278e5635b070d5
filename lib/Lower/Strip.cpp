//===- Strip.cpp - Plain types and no barriers ----------------------------===//

#include "GradScheduleOps.h"
#include "Lower/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::grad {
#define GEN_PASS_DEF_STRIPPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// Replaces the one result of `op` by `value`.
static void replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

/// Moves the ops of a region of the dialect to where the region op stands.
static void dissolve(Operation *op) {
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.getTerminator();
  op->replaceAllUsesWith(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op->erase();
}

namespace {
struct StripPass : grad::impl::StripPassBase<StripPass> {
  void runOnOperation() override {
    // Types first: the encoding vanishes from results, block arguments and
    // attributes alike, so that no op is left with types that disagree.
    AttrTypeReplacer replacer;
    replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
      if (!isa_and_nonnull<RequiresGradAttr>(type.getEncoding()))
        return std::nullopt;
      return RankedTensorType::get(type.getShape(), type.getElementType());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);

    WalkResult result = getOperation()->walk([](Operation *op) {
      if (isa<StopGradientOp, PromoteOp, LeafOp, ValueOfOp, EnterCheckpointOp,
              LeaveCheckpointOp>(op))
        replace(op, op->getOperand(0));
      else if (isa<NoGradOp, EnableGradOp, CheckpointOp>(op))
        dissolve(op);
      else if (isa<VjpOp, JvpOp>(op)) {
        op->emitOpError(
            "is still to be differentiated: run grad-gradient first");
        return WalkResult::interrupt();
      } else if (auto cast = dyn_cast<tensor::CastOp>(op);
                 cast && cast.getType() == cast.getSource().getType())
        replace(op, cast.getSource());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    getOperation()->walk([](FunctionOpInterface function) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, kRequiresGradArg);
    });
  }
};
} // namespace

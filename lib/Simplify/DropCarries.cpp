//===- DropCarries.cpp - Loops carry what somebody reads ------------------===//

#include "Simplify/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_DROPCARRIESPASS
#include "Simplify/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
struct DropCarriesPass : grad::impl::DropCarriesPassBase<DropCarriesPass> {
  void runOnOperation() override {
    // Inner loops first: what they do not read, the outer ones need not carry.
    getOperation().walk(dropCarries);
  }

  static void dropCarries(scf::ForOp loop) {
    Block *body = loop.getBody();
    Operation *yield = body->getTerminator();
    // Values of the body that somebody reads in the end.
    llvm::SetVector<Value> live;
    auto read = [&](Value value) {
      if (value.getParentBlock() == body)
        live.insert(value);
    };
    auto readAll = [&](Operation *op) {
      llvm::for_each(op->getOperands(), read);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      llvm::for_each(captured, read);
    };
    for (Operation &op : body->without_terminator())
      if (!wouldOpBeTriviallyDead(&op))
        readAll(&op);
    for (auto [result, value] :
         llvm::zip(loop.getResults(), yield->getOperands()))
      if (!result.use_empty())
        read(value);
    for (unsigned i = 0; i < live.size(); ++i) {
      if (Operation *op = live[i].getDefiningOp())
        readAll(op);
      else if (live[i] != loop.getInductionVar())
        read(loop.getTiedLoopYieldedValue(cast<BlockArgument>(live[i]))->get());
    }
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (loop.getResult(number).use_empty() && !live.contains(argument))
        yield->setOperand(number, argument);
  }
};
} // namespace

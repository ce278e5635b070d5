//===- BranchDerivative.cpp - Derivatives of scf.if and the like ----------===//

#include "Rules/BranchDerivative.h"

#include "Rules/PruneInputs.h"
#include "Rules/RegionCopy.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::grad;

/// An op that decides as `op` does and has results of `types`; its regions
/// have empty blocks.
static Operation *createLike(OpBuilder &b, Operation *op, TypeRange types) {
  OpBuilder::InsertionGuard guard(b);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                       op->getAttrs());
  for (Region &region : op->getRegions()) {
    Region *copy = state.addRegion();
    if (!region.empty())
      copy->emplaceBlock();
  }
  return b.create(state);
}

LogicalResult mlir::grad::emitBranchVjp(Operation *op, VjpBuilder &vjp) {
  llvm::SetVector<Value> captures = getNeededCaptures(op, vjp);
  if (captures.empty())
    return success();
  OpBuilder &b = vjp.builder();
  Location loc = op->getLoc();
  SmallVector<Value> known;
  for (Value capture : captures)
    known.push_back(vjp.takeCotangent(capture));
  Operation *branch =
      createLike(b, op, ValueRange(captures.getArrayRef()).getTypes());
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    OpBuilder body = OpBuilder::atBlockEnd(&to.front(), b.getListener());
    RegionCopy copy;
    copy.clone(body, from.front(), {});
    BlockVjp inner = copy.startVjp(body, vjp);
    for (auto [capture, cotangent] : llvm::zip(captures, known))
      if (cotangent)
        inner.setCotangent(capture, cotangent);
    for (auto [result, value] : llvm::zip(
             op->getResults(), from.front().getTerminator()->getOperands()))
      inner.accumulate(copy.lookup(value), vjp.cotangent(result));
    if (failed(inner.run(copy.getOps())))
      return failure();
    SmallVector<Value> yielded;
    for (Value capture : captures) {
      Value cotangent = inner.cotangent(capture);
      yielded.push_back(cotangent ? cotangent : zerosLike(body, loc, capture));
    }
    scf::YieldOp::create(body, loc, yielded);
    eraseAssertions(branch);
    eraseDeadOps(to.front());
  }
  for (auto [capture, cotangent] : llvm::zip(captures, branch->getResults()))
    vjp.setCotangent(capture, cotangent);
  return success();
}

LogicalResult mlir::grad::emitBranchJvp(Operation *op, JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  SmallVector<unsigned> active;
  SmallVector<Type> types(op->getResultTypes());
  for (OpResult result : op->getResults())
    if (isDifferentiableType(result.getType()) && jvp.needs(result)) {
      active.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
  Operation *branch = createLike(b, op, types);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    OpBuilder body = OpBuilder::atBlockEnd(&to.front(), b.getListener());
    RegionCopy copy;
    copy.clone(body, from.front(), {});
    OperandRange values = from.front().getTerminator()->getOperands();
    auto yield = scf::YieldOp::create(body, op->getLoc(), copy.lookup(values));
    if (failed(copy.runJvp(yield, active, jvp, [](BlockJvp &) {})))
      return failure();
  }
  supersedeWithTangents(op, branch, active, jvp);
  return success();
}

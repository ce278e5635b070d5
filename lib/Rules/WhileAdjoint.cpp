//===- WhileAdjoint.cpp - Adjoint of scf.while ----------------------------===//

#include "Rules/WhileAdjoint.h"

#include "Rules/RegionCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::grad;

/// Puts a loop that also counts its iterations in place of `loop`. Returns the
/// count.
static Value countIterations(scf::WhileOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Type index = b.getIndexType();
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(index);
  IRMapping mapping;
  auto copy = [&](OpBuilder &body, Block &block, ValueRange arguments) {
    mapping.map(block.getArguments(), arguments.drop_back());
    for (Operation &op : block.without_terminator())
      body.clone(op, mapping);
    SmallVector<Value> forwarded;
    for (Value value : block.getTerminator()->getOperands())
      forwarded.push_back(mapping.lookupOrDefault(value));
    return forwarded;
  };
  auto counting = scf::WhileOp::create(
      b, loc, types, inits,
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        SmallVector<Value> forwarded =
            copy(body, *loop.getBeforeBody(), arguments);
        forwarded.push_back(arguments.back());
        scf::ConditionOp::create(body, loc, forwarded.front(),
                                 ArrayRef(forwarded).drop_front());
      },
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        SmallVector<Value> yielded =
            copy(body, *loop.getAfterBody(), arguments);
        Value one = arith::ConstantIndexOp::create(body, loc, 1);
        yielded.push_back(
            arith::AddIOp::create(body, loc, arguments.back(), one));
        scf::YieldOp::create(body, loc, yielded);
      });
  supersede(loop, counting.getResults());
  return counting.getResults().back();
}

LogicalResult mlir::grad::emitWhileVjp(scf::WhileOp loop, VjpBuilder &vjp) {
  OpBuilder &b = vjp.builder();
  Location loc = loop.getLoc();
  llvm::SetVector<Value> inputs = getNeededCaptures(loop, vjp);
  inputs.insert_range(loop.getInits());
  if (llvm::none_of(inputs, [&](Value input) { return vjp.needs(input); }))
    return success();
  Value count = countIterations(loop);

  RegionCopy copy;
  auto standForState = [&](ValueRange values) {
    for (auto [value, argument] :
         llvm::zip_equal(values, loop.getBeforeArguments()))
      copy.setOriginal(value, argument);
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto again = scf::ForOp::create(
      b, loc, zero, count, one, loop.getInits(),
      [&](OpBuilder &body, Location loc, Value, ValueRange state) {
        standForState(state);
        copy.clone(body, *loop.getBeforeBody(), state);
        copy.clone(body, *loop.getAfterBody(),
                   copy.lookup(loop.getConditionOp().getArgs()));
        scf::YieldOp::create(body, loc,
                             copy.lookup(loop.getYieldOp().getOperands()));
      });
  eraseAssertions(again.getOperation());
  standForState(again.getResults());
  size_t inLoop = copy.getOps().size();
  copy.clone(b, *loop.getBeforeBody(), again.getResults());
  SmallVector<Operation *> ops = {again};
  llvm::append_range(ops, copy.getOps().drop_front(inLoop));
  if (failed(runInPlace(copy, ops, loop.getResults(),
                        copy.lookup(loop.getConditionOp().getArgs()), inputs,
                        vjp)))
    return failure();
  eraseAssertions(ArrayRef(ops).drop_front());
  return success();
}

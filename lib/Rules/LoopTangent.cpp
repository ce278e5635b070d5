//===- LoopTangent.cpp - Tangents of loops --------------------------------===//

#include "Rules/LoopTangent.h"

#include "Rules/RegionCopy.h"
#include "Rules/TensorUtils.h"

using namespace mlir;
using namespace mlir::grad;

/// Numbers of the values whose tangent is used. A loop forwards the same to
/// `arguments` and `results`.
static SmallVector<unsigned> getActive(ValueRange arguments, ValueRange results,
                                       JvpBuilder &jvp) {
  SmallVector<unsigned> active;
  for (auto [number, argument, result] : llvm::enumerate(arguments, results))
    if (isDifferentiableType(result.getType()) &&
        (jvp.needs(argument) || jvp.needs(result)))
      active.push_back(number);
  return active;
}

template <typename Range>
static SmallVector<Value> select(Range &&values, ArrayRef<unsigned> numbers) {
  return llvm::map_to_vector(
      numbers, [&](unsigned number) -> Value { return values[number]; });
}

/// `inits` and their tangents.
static SmallVector<Value>
withTangents(ValueRange inits, ArrayRef<unsigned> active, JvpBuilder &jvp) {
  SmallVector<Value> values(inits);
  for (Value init : select(inits, active)) {
    Value tangent = jvp.tangent(init);
    values.push_back(tangent ? tangent
                             : zerosLike(jvp.builder(), init.getLoc(), init));
  }
  return values;
}

/// Fills in a region that stands for `block` and starts with `arguments`,
/// values and then tangents. Returns the copies of `values`, and the tangents
/// of those in `active`.
static FailureOr<SmallVector<Value>>
copyBlock(OpBuilder &body, Block &block, ValueRange arguments,
          ArrayRef<unsigned> activeArguments, ValueRange values,
          ArrayRef<unsigned> active, JvpBuilder &jvp) {
  RegionCopy copy;
  unsigned numArguments = block.getNumArguments();
  copy.clone(body, block, arguments.take_front(numArguments));
  auto start = [&](BlockJvp &inner) {
    for (auto [value, tangent] :
         llvm::zip_equal(select(arguments, activeArguments),
                         arguments.drop_front(numArguments)))
      inner.setTangent(value, tangent);
  };
  FailureOr<SmallVector<Value>> tangents =
      copy.runJvp(body, jvp, start, select(values, active));
  if (failed(tangents))
    return failure();
  SmallVector<Value> yielded = copy.lookup(values);
  llvm::append_range(yielded, *tangents);
  return yielded;
}

LogicalResult mlir::grad::emitForJvp(scf::ForOp loop, JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  Location loc = loop.getLoc();
  SmallVector<unsigned> active =
      getActive(loop.getRegionIterArgs(), loop.getResults(), jvp);
  auto both = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(),
                                 withTangents(loop.getInits(), active, jvp),
                                 nullptr, loop.getUnsignedCmp());
  OpBuilder body = OpBuilder::atBlockEnd(both.getBody(), b.getListener());
  // The induction variable comes first.
  SmallVector<unsigned> arguments =
      llvm::map_to_vector(active, [](unsigned number) { return number + 1; });
  FailureOr<SmallVector<Value>> yielded =
      copyBlock(body, *loop.getBody(), both.getBody()->getArguments(),
                arguments, loop.getYieldedValues(), active, jvp);
  if (failed(yielded))
    return failure();
  scf::YieldOp::create(body, loc, *yielded);
  supersedeWithTangents(loop, both, active, jvp);
  return success();
}

LogicalResult mlir::grad::emitWhileJvp(scf::WhileOp loop, JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  Location loc = loop.getLoc();
  SmallVector<unsigned> before =
      getActive(loop.getBeforeArguments(), loop.getBeforeArguments(), jvp);
  SmallVector<unsigned> after =
      getActive(loop.getAfterArguments(), loop.getResults(), jvp);
  SmallVector<Type> types(loop.getResultTypes());
  for (unsigned number : after)
    types.push_back(types[number]);

  bool failedInside = false;
  auto both = scf::WhileOp::create(
      b, loc, types, withTangents(loop.getInits(), before, jvp),
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        scf::ConditionOp condition = loop.getConditionOp();
        SmallVector<Value> values(condition->getOperands());
        // The condition comes first.
        SmallVector<unsigned> active = llvm::map_to_vector(
            after, [](unsigned number) { return number + 1; });
        FailureOr<SmallVector<Value>> forwarded =
            copyBlock(body, *loop.getBeforeBody(), arguments, before, values,
                      active, jvp);
        failedInside |= failed(forwarded);
        if (succeeded(forwarded))
          scf::ConditionOp::create(body, loc, forwarded->front(),
                                   ArrayRef(*forwarded).drop_front());
      },
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        FailureOr<SmallVector<Value>> yielded =
            copyBlock(body, *loop.getAfterBody(), arguments, after,
                      loop.getYieldOp().getOperands(), before, jvp);
        failedInside |= failed(yielded);
        if (succeeded(yielded))
          scf::YieldOp::create(body, loc, *yielded);
      });
  if (failedInside)
    return failure();
  supersedeWithTangents(loop, both, after, jvp);
  return success();
}

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

/// `inits` and their tangents.
static SmallVector<Value>
withTangents(ValueRange inits, ArrayRef<unsigned> active, JvpBuilder &jvp) {
  SmallVector<Value> values(inits);
  for (unsigned number : active) {
    Value init = inits[number];
    Value tangent = jvp.tangent(init);
    values.push_back(tangent ? tangent
                             : zerosLike(jvp.builder(), init.getLoc(), init));
  }
  return values;
}

/// Fills in a region that stands for `block` and starts with `arguments`,
/// values and then the tangents of those in `activeArguments`. It passes on
/// values and then the tangents of those in `active`.
static LogicalResult copyBlock(OpBuilder &body, Block &block,
                               ValueRange arguments,
                               ArrayRef<unsigned> activeArguments,
                               ArrayRef<unsigned> active, JvpBuilder &jvp) {
  RegionCopy copy;
  unsigned numArguments = block.getNumArguments();
  copy.clone(body, block, arguments.take_front(numArguments));
  Operation *terminator = body.clone(*block.getTerminator());
  terminator->setOperands(copy.lookup(terminator->getOperands()));
  auto start = [&](BlockJvp &inner) {
    for (auto [number, tangent] :
         llvm::zip_equal(activeArguments, arguments.drop_front(numArguments)))
      inner.setTangent(arguments[number], tangent);
  };
  return copy.runJvp(terminator, active, jvp, start);
}

/// Numbers in a list that has one more value in front.
static SmallVector<unsigned> shift(ArrayRef<unsigned> numbers) {
  return llvm::map_to_vector(numbers,
                             [](unsigned number) { return number + 1; });
}

LogicalResult mlir::grad::emitForJvp(scf::ForOp loop, JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  SmallVector<unsigned> active =
      getActive(loop.getRegionIterArgs(), loop.getResults(), jvp);
  auto both = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(),
                                 withTangents(loop.getInits(), active, jvp),
                                 nullptr, loop.getUnsignedCmp());
  OpBuilder body = OpBuilder::atBlockEnd(both.getBody(), b.getListener());
  // The induction variable comes first.
  if (failed(copyBlock(body, *loop.getBody(), both.getBody()->getArguments(),
                       shift(active), active, jvp)))
    return failure();
  supersedeWithTangents(loop, both, active, jvp);
  return success();
}

LogicalResult mlir::grad::emitWhileJvp(scf::WhileOp loop, JvpBuilder &jvp) {
  SmallVector<unsigned> before =
      getActive(loop.getBeforeArguments(), loop.getBeforeArguments(), jvp);
  SmallVector<unsigned> after =
      getActive(loop.getAfterArguments(), loop.getResults(), jvp);
  SmallVector<Type> types(loop.getResultTypes());
  for (unsigned number : after)
    types.push_back(types[number]);

  bool failedInside = false;
  auto both = scf::WhileOp::create(
      jvp.builder(), loop.getLoc(), types,
      withTangents(loop.getInits(), before, jvp),
      [&](OpBuilder &body, Location, ValueRange arguments) {
        // The condition comes first.
        failedInside |= failed(copyBlock(body, *loop.getBeforeBody(), arguments,
                                         before, shift(after), jvp));
      },
      [&](OpBuilder &body, Location, ValueRange arguments) {
        failedInside |= failed(copyBlock(body, *loop.getAfterBody(), arguments,
                                         after, before, jvp));
      });
  if (failedInside)
    return failure();
  supersedeWithTangents(loop, both, after, jvp);
  return success();
}

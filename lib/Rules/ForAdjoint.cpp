//===- ForAdjoint.cpp - Adjoint of scf.for --------------------------------===//

#include "Rules/ForAdjoint.h"

#include "Rules/LoopIndex.h"
#include "Rules/LoopStack.h"
#include "Rules/PruneInputs.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::grad;

/// Stacks of more bytes than this make the loop run in segments.
static constexpr int64_t kMaxStackBytes = int64_t(16) << 20;
/// Shorter loops are not worth it.
static constexpr int64_t kMinSegmentedTrips = 16;

LogicalResult ForAdjoint::emit() {
  collectState();
  if (active.empty() && captures.empty()) {
    llvm::for_each(invariant, [&](unsigned number) { passThrough(number); });
    return success();
  }
  buildTripCount();
  if (staticTrips == 0) {
    llvm::for_each(active, [&](unsigned number) { passThrough(number); });
    llvm::for_each(invariant, [&](unsigned number) { passThrough(number); });
    return success();
  }
  if (failed(buildReverse()))
    return failure();
  narrowSaved();
  FailureOr<int64_t> bytes = getSavedBytes();
  if (failed(bytes))
    return failure();
  if (*bytes > kMaxStackBytes && *staticTrips >= kMinSegmentedTrips) {
    reverse.erase();
    return emitInSegments();
  }
  saveInPrimal();
  setCotangents();
  return success();
}

//===----------------------------------------------------------------------===//
// What the loop carries
//===----------------------------------------------------------------------===//

void ForAdjoint::collectState() {
  captures = getNeededCaptures(loop, vjp);
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (loop.getYieldedValues()[number] == argument) {
      invariant.push_back(number);
      if (vjp.needs(argument))
        captures.insert(loop.getInits()[number]);
    } else if (vjp.needs(argument) || vjp.needs(loop.getResult(number))) {
      active.push_back(number);
    }
  }
}

/// The result is what came in.
void ForAdjoint::passThrough(unsigned number) {
  vjp.accumulate(loop.getInits()[number],
                 vjp.cotangent(loop.getResult(number)));
}

void ForAdjoint::buildTripCount() {
  OpBuilder before(loop);
  if (std::optional<APInt> count = loop.getStaticTripCount()) {
    staticTrips = count->getSExtValue();
    trips = arith::ConstantIndexOp::create(before, loc, *staticTrips);
  } else {
    trips = computeTripCount(before, loop);
  }
}

//===----------------------------------------------------------------------===//
// The reverse loop
//===----------------------------------------------------------------------===//

Value ForAdjoint::addPlaceholder(Value original) {
  OpBuilder body = OpBuilder::atBlockBegin(reverse.getBody());
  Value placeholder = UnrealizedConversionCastOp::create(
                          body, loc, original.getType(), ValueRange())
                          .getResult(0);
  copy.setOriginal(placeholder, original);
  placeholders.insert(placeholder);
  return placeholder;
}

/// The number of the iteration that the body of the reverse loop is about.
Value ForAdjoint::getIteration(OpBuilder &body) {
  Value one = arith::ConstantIndexOp::create(body, loc, 1);
  Value last = body.createOrFold<arith::SubIOp>(loc, trips, one);
  return body.createOrFold<arith::SubIOp>(loc, last, reverse.getInductionVar());
}

LogicalResult ForAdjoint::buildReverse() {
  auto orZeros = [&](Value value) {
    Value known = vjp.cotangent(value);
    return known ? known : zerosLike(b, loc, value);
  };
  SmallVector<Value> inits;
  for (unsigned number : active)
    inits.push_back(orZeros(loop.getResult(number)));
  for (Value capture : captures)
    inits.push_back(orZeros(capture));

  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  reverse = scf::ForOp::create(b, loc, zero, trips, one, inits);
  OpBuilder body = OpBuilder::atBlockEnd(reverse.getBody(), b.getListener());
  SmallVector<Value> arguments = {
      getInductionValue(body, loop, getIteration(body))};
  for (BlockArgument argument : loop.getRegionIterArgs())
    arguments.push_back(addPlaceholder(argument));
  for (unsigned number : invariant) {
    placeholders.remove(arguments[number + 1]);
    arguments[number + 1] = loop.getInits()[number];
  }
  copy.clone(body, *loop.getBody(), arguments);

  BlockVjp inner = copy.startVjp(body, vjp);
  ValueRange carried = reverse.getRegionIterArgs();
  for (auto [capture, cotangent] :
       llvm::zip(captures, carried.drop_front(active.size())))
    inner.setCotangent(capture, cotangent);
  for (auto [number, cotangent] : llvm::zip(active, carried))
    inner.accumulate(copy.lookup(loop.getYieldedValues()[number]), cotangent);
  if (failed(inner.run(copy.getOps())))
    return failure();
  SmallVector<Value> yielded;
  for (unsigned number : active) {
    Value value = arguments[number + 1];
    Value cotangent = inner.cotangent(value);
    yielded.push_back(cotangent ? cotangent : zerosLike(body, loc, value));
  }
  for (Value capture : captures)
    yielded.push_back(inner.cotangent(capture));
  scf::YieldOp::create(body, loc, yielded);
  eraseAssertions(reverse.getOperation());
  return success();
}

void ForAdjoint::setCotangents() {
  ValueRange results = reverse.getResults();
  for (auto [capture, cotangent] :
       llvm::zip(captures, results.drop_front(active.size())))
    vjp.setCotangent(capture, cotangent);
  for (auto [number, cotangent] : llvm::zip(active, results))
    vjp.accumulate(loop.getInits()[number], cotangent);
  llvm::for_each(invariant, [&](unsigned number) { passThrough(number); });
}

//===----------------------------------------------------------------------===//
// What to save
//===----------------------------------------------------------------------===//

/// Saves what is computed from `saved` instead, if that is all that the body
/// reads and takes fewer bytes.
bool ForAdjoint::replaceBySmaller(Value saved) {
  Block *body = reverse.getBody();
  llvm::SetVector<Operation *> readers;
  for (Operation *user : saved.getUsers()) {
    bool isCopy = user->getBlock() == body && user->getNumResults() != 0 &&
                  copy.getOriginal(user->getResult(0));
    if (!isCopy)
      return false;
    readers.insert(user);
  }
  std::optional<int64_t> before = getStackedBytes(saved.getType());
  int64_t after = 0;
  SmallVector<Value> smaller;
  for (Operation *reader : readers)
    for (Value result : reader->getResults()) {
      if (result.use_empty())
        continue;
      std::optional<int64_t> bytes = getStackedBytes(result.getType());
      if (!bytes)
        return false;
      after += *bytes;
      smaller.push_back(result);
    }
  if (before && after >= *before)
    return false;
  for (Value value : smaller)
    value.replaceAllUsesWith(addPlaceholder(copy.getOriginal(value)));
  return true;
}

void ForAdjoint::narrowSaved() {
  bool changed = true;
  while (changed) {
    eraseDeadOps(*reverse.getBody());
    changed = false;
    llvm::SetVector<Value> live;
    reverse.getBody()->walk([&](UnrealizedConversionCastOp op) {
      if (placeholders.contains(op.getResult(0)))
        live.insert(op.getResult(0));
    });
    placeholders = live;
    for (Value saved : live)
      if ((changed = replaceBySmaller(saved)))
        break;
  }
}

FailureOr<int64_t> ForAdjoint::getSavedBytes() {
  int64_t bytes = 0;
  for (Value placeholder : placeholders) {
    std::optional<int64_t> size = getStackedBytes(placeholder.getType());
    if (!size)
      return loop.emitOpError("has no reverse-mode derivative rule: it carries "
                              "a value of type ")
             << placeholder.getType() << ", which the gradient needs of every "
             << "iteration";
    bytes += *size;
  }
  return bytes * staticTrips.value_or(0);
}

void ForAdjoint::saveInPrimal() {
  llvm::SetVector<Value> stacked;
  for (Value placeholder : placeholders) {
    if (getStackedBytes(placeholder.getType()) != 0) {
      stacked.insert(placeholder);
      continue;
    }
    OpBuilder body(placeholder.getDefiningOp());
    auto type = cast<RankedTensorType>(placeholder.getType());
    placeholder.replaceAllUsesWith(emptyLike(body, loc, type));
    placeholder.getDefiningOp()->erase();
  }
  if (stacked.empty())
    return;

  OpBuilder before(loop);
  SmallVector<Value> inits(loop.getInits());
  for (Value placeholder : stacked)
    inits.push_back(createStack(before, loc, placeholder.getType(), trips));
  auto saving = scf::ForOp::create(before, loc, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits,
                                   nullptr, loop.getUnsignedCmp());
  Block &block = *saving.getBody();
  OpBuilder body = OpBuilder::atBlockBegin(&block);
  Value slot = getIterationNumber(body, saving);
  unsigned numArguments = loop.getBody()->getNumArguments();
  IRMapping mapping;
  mapping.map(loop.getBody()->getArguments(),
              block.getArguments().take_front(numArguments));
  SmallVector<Value> stacks(block.getArguments().drop_front(numArguments));
  auto save = [&](auto isHere) {
    for (auto [placeholder, stack] : llvm::zip(stacked, stacks)) {
      Value original = copy.getOriginal(placeholder);
      if (isHere(original))
        stack = writeStack(body, loc, stack, slot, mapping.lookup(original));
    }
  };
  save([](Value original) { return isa<BlockArgument>(original); });
  for (Operation &op : loop.getBody()->without_terminator()) {
    body.clone(op, mapping);
    save([&](Value original) { return original.getDefiningOp() == &op; });
  }
  SmallVector<Value> yielded;
  for (Value value : loop.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  llvm::append_range(yielded, stacks);
  scf::YieldOp::create(body, loc, yielded);

  supersede(loop, saving.getResults());

  OpBuilder reading = OpBuilder::atBlockBegin(reverse.getBody());
  Value iteration = getIteration(reading);
  ValueRange saved = saving.getResults().drop_front(loop.getNumResults());
  for (auto [placeholder, stack] : llvm::zip_equal(stacked, saved)) {
    Value read =
        readStack(reading, loc, stack, iteration, placeholder.getType());
    placeholder.getDefiningOp()->replaceAllUsesWith(ValueRange(read));
  }
  for (Value placeholder : stacked)
    placeholder.getDefiningOp()->erase();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// `for i < n` becomes `for j < n / k { for i < k }` and a loop over the
/// remaining iterations, which then are differentiated like any other.
LogicalResult ForAdjoint::emitInSegments() {
  int64_t length = std::ceil(std::sqrt(*staticTrips));
  int64_t segments = *staticTrips / length, rest = *staticTrips % length;
  OpBuilder before(loop);
  RegionCopy nest;
  auto constant = [&](OpBuilder &builder, int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto standsForState = [&](ValueRange values) {
    for (auto [value, argument, result] :
         llvm::zip(values, loop.getRegionIterArgs(), loop.getResults()))
      nest.setOriginal(value, vjp.needs(argument) ? Value(argument) : result);
  };
  /// A loop of `trips` iterations from iteration `first` on.
  auto buildLoop =
      [&](OpBuilder &builder, int64_t trips, ValueRange inits,
          function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)>
              build) {
        auto result = scf::ForOp::create(builder, loc, constant(builder, 0),
                                         constant(builder, trips),
                                         constant(builder, 1), inits);
        standsForState(result.getResults());
        standsForState(result.getRegionIterArgs());
        OpBuilder body = OpBuilder::atBlockEnd(result.getBody());
        scf::YieldOp::create(
            body, loc,
            build(body, result.getInductionVar(), result.getRegionIterArgs()));
        return result;
      };
  auto iterate = [&](OpBuilder &builder, int64_t trips, Value first,
                     ValueRange state) {
    return buildLoop(
        builder, trips, state,
        [&](OpBuilder &body, Value number, ValueRange state) {
          Value at = body.createOrFold<arith::AddIOp>(loc, first, number);
          SmallVector<Value> arguments = {getInductionValue(body, loop, at)};
          llvm::append_range(arguments, state);
          nest.clone(body, *loop.getBody(), arguments);
          return nest.lookup(loop.getYieldedValues());
        });
  };
  scf::ForOp last =
      buildLoop(before, segments, loop.getInits(),
                [&](OpBuilder &body, Value number, ValueRange state) {
                  Value first = arith::MulIOp::create(body, loc, number,
                                                      constant(body, length));
                  return llvm::to_vector_of<Value>(
                      iterate(body, length, first, state).getResults());
                });
  SmallVector<Operation *> loops = {last};
  if (rest != 0) {
    last = iterate(before, rest, constant(before, segments * length),
                   last.getResults());
    loops.push_back(last);
  }
  supersede(loop, last.getResults());

  llvm::SetVector<Value> outside = captures;
  outside.insert_range(loop.getInits());
  return runInPlace(nest, loops, loop.getResults(), last.getResults(), outside,
                    vjp);
}

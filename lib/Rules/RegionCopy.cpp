//===- RegionCopy.cpp - Derivatives of the ops in a region ----------------===//

#include "Rules/RegionCopy.h"

#include "Rules/TensorUtils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::grad;

void RegionCopy::clone(OpBuilder &builder, Block &block, ValueRange arguments) {
  // A region clones without the arguments that are mapped already.
  mapping.clear();
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    ops.push_back(builder.clone(op, mapping));
    op.walk([&](Operation *inner) {
      for (Value result : inner->getResults())
        setOriginal(mapping.lookup(result), result);
      for (Region &region : inner->getRegions())
        for (Block &nested : region)
          for (Value argument : nested.getArguments())
            setOriginal(mapping.lookup(argument), argument);
    });
  }
}

SmallVector<Value> RegionCopy::lookup(ValueRange values) const {
  return llvm::map_to_vector(values,
                             [&](Value value) { return lookup(value); });
}

BlockVjp RegionCopy::startVjp(OpBuilder &builder, VjpBuilder &outer) const {
  return BlockVjp(builder, [this, &outer](Value value) {
    Value original = getOriginal(value);
    return outer.needs(original ? original : value);
  });
}

LogicalResult RegionCopy::runJvp(Operation *terminator,
                                 ArrayRef<unsigned> active, JvpBuilder &outer,
                                 function_ref<void(BlockJvp &)> start) const {
  auto needs = [this, &outer](Value value) {
    Value original = getOriginal(value);
    return outer.needs(original ? original : value);
  };
  OpBuilder builder(terminator, outer.builder().getListener());
  BlockJvp inner(builder, &outer, needs);
  start(inner);
  // What reaches no output needs no derivative, nor a rule.
  SmallVector<Operation *> needed;
  llvm::copy_if(ops, std::back_inserter(needed), [&](Operation *op) {
    return llvm::any_of(op->getResults(), needs);
  });
  if (failed(inner.run(needed)))
    return failure();
  SmallVector<Value> operands(terminator->getOperands());
  for (unsigned number : active) {
    Value value = operands[number];
    Value tangent = inner.tangent(value);
    operands.push_back(tangent ? tangent
                               : zerosLike(builder, value.getLoc(), value));
  }
  terminator->setOperands(operands);
  return success();
}

LogicalResult mlir::grad::runInPlace(const RegionCopy &copy,
                                     ArrayRef<Operation *> ops,
                                     ValueRange results, ValueRange values,
                                     const llvm::SetVector<Value> &inputs,
                                     VjpBuilder &vjp) {
  BlockVjp inner = copy.startVjp(vjp.builder(), vjp);
  for (Value input : inputs)
    if (Value cotangent = vjp.takeCotangent(input))
      inner.setCotangent(input, cotangent);
  for (auto [result, value] : llvm::zip_equal(results, values))
    inner.accumulate(value, vjp.cotangent(result));
  if (failed(inner.run(ops)))
    return failure();
  for (Value input : inputs)
    if (Value cotangent = inner.cotangent(input))
      vjp.setCotangent(input, cotangent);
  return success();
}

llvm::SetVector<Value> mlir::grad::getNeededCaptures(Operation *op,
                                                     VjpBuilder &vjp) {
  // The body of a structured op that is being built is not in the op yet, and
  // what MLIR has for this asks for the regions above.
  DenseSet<Value> inside;
  llvm::SetVector<Value> captures;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        inside.insert_range(block.getArguments());
    if (inner == op)
      return;
    inside.insert_range(inner->getResults());
    for (Value value : inner->getOperands())
      if (!inside.contains(value) && vjp.needs(value))
        captures.insert(value);
  });
  return captures;
}

void mlir::grad::eraseAssertions(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    op->walk([](cf::AssertOp assertion) { assertion.erase(); });
}

void mlir::grad::supersede(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values.take_front(op->getNumResults()));
  eraseAssertions(op);
}

void mlir::grad::supersedeWithTangents(Operation *op, Operation *both,
                                       ArrayRef<unsigned> active,
                                       JvpBuilder &jvp) {
  supersede(op, both->getResults());
  ValueRange tangents =
      ValueRange(both->getResults()).drop_front(op->getNumResults());
  for (auto [number, tangent] : llvm::zip_equal(active, tangents)) {
    jvp.setTangent(op->getResult(number), tangent);
    jvp.setTangent(both->getResult(number), tangent);
  }
}

//===- GenericAdjoint.cpp - Adjoint of a structured op --------------------===//

#include "Rules/GenericAdjoint.h"

#include "Rules/Activity.h"
#include "Rules/BlockVjp.h"
#include "Rules/Expansion.h"
#include "Rules/ProductTree.h"
#include "Rules/PruneInputs.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// What needs an adjoint
//===----------------------------------------------------------------------===//

LogicalResult GenericAdjoint::emit() {
  if (failed(collectOutputs()))
    return failure();
  if (outputs.empty())
    return success();

  for (OpOperand *operand : op.getDpsInputOperands())
    if (vjp.needs(operand->get()) && failed(emitOperand(*operand)))
      return failure();
  for (unsigned number = 0, e = op.getNumDpsInits(); number < e; ++number) {
    OpOperand *init = op.getDpsInitOperand(number);
    if (!vjp.needs(init->get()))
      continue;
    const auto *output = llvm::find_if(
        outputs, [&](const Output &other) { return other.number == number; });
    if (output == outputs.end() ||
        output->combination.kind == Combination::Kind::Write) {
      // Another result may be computed from it too.
      if (op.payloadUsesValueFromOperand(init) && failed(emitOperand(*init)))
        return failure();
    } else if (output->combination.kind == Combination::Kind::Sum) {
      vjp.accumulate(init->get(), output->cotangent);
    } else {
      return op->emitOpError("has no derivative rule for the initial value of "
                             "a maximum or minimum");
    }
  }

  llvm::SetVector<Value> captures;
  SmallVector<tensor::ExtractOp> gathers;
  op.getBlock()->walk([&](Operation *inner) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      if (!op->isAncestor(
              extract.getTensor().getParentBlock()->getParentOp()) &&
          vjp.needs(extract.getTensor()))
        gathers.push_back(extract);
    for (Value value : inner->getOperands())
      if (!op->isAncestor(value.getParentBlock()->getParentOp()) &&
          isa<FloatType, ComplexType>(value.getType()) && vjp.needs(value))
        captures.insert(value);
  });
  for (Value capture : captures)
    if (failed(emitScalar(capture, capture)))
      return failure();
  for (tensor::ExtractOp gather : gathers) {
    if (gather->getBlock() != op.getBlock())
      return gather.emitOpError("has no derivative rule under control flow in "
                                "the body of a structured op");
    if (failed(emitGather(gather)))
      return failure();
  }
  return success();
}

LogicalResult GenericAdjoint::collectOutputs() {
  for (OpResult result : op->getResults())
    if (Value cotangent = vjp.cotangent(result))
      if (failed(addOutput(result.getResultNumber(), cotangent)))
        return failure();
  for (unsigned number : products) {
    ProductTree tree(op, number);
    if (failed(tree.build(b)) ||
        failed(emitVjpOfOps(tree.getOps(), op->getResult(number),
                            tree.getProduct(), vjp)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The differentiated body
//===----------------------------------------------------------------------===//

FailureOr<Value> GenericAdjoint::buildBody(OpBuilder &body, ValueRange args,
                                           Value target, IRMapping &mapping) {
  SmallVector<Operation *> clones = cloneBody(body, args, mapping);
  Value cloned = mapping.lookupOrDefault(target);

  DenseSet<Value> active{cloned};
  spreadActivity(clones, active);
  BlockVjp reverse(body, [&](Value value) { return active.contains(value); });
  SmallVector<BoundOutput> bound;
  ValueRange rest = args.drop_front(op->getNumOperands());
  for (const Output &output : outputs) {
    bound.push_back(bind(output, rest));
    reverse.accumulate(
        mapping.lookupOrDefault(output.combination.term),
        weigh(body, output, bound.back(), mapping, bound.back().cotangent));
  }
  if (failed(reverse.run(clones)))
    return failure();

  // Where a point writes its result, the derivative reads the result instead
  // of computing it again.
  for (auto [output, values] : llvm::zip(outputs, bound)) {
    Value term = mapping.lookupOrDefault(output.combination.term);
    if (output.combination.kind == Combination::Kind::Write && term != cloned &&
        llvm::is_contained(clones, term.getDefiningOp()))
      term.replaceAllUsesWith(values.result);
  }
  return reverse.cotangent(cloned);
}

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

FailureOr<Value> GenericAdjoint::emitLoopNest(Value target,
                                              ArrayRef<OpFoldResult> sizes,
                                              Type element, AffineMap map,
                                              Value accumulated) {
  auto [values, maps] = getInputs();
  maps.push_back(map);

  // Loops whose position the map keeps are parallel. Where positions overlap
  // (d0 + d1, as in a convolution) every loop is a reduction: two points may
  // add to the same element.
  bool injective = map.isProjectedPermutation();
  SmallVector<utils::IteratorType> iterators(op.getNumLoops(),
                                             utils::IteratorType::reduction);
  if (injective)
    for (AffineExpr result : map.getResults())
      iterators[cast<AffineDimExpr>(result).getPosition()] =
          utils::IteratorType::parallel;
  bool writes = injective && map.getNumResults() == op.getNumLoops();

  Value init = accumulated;
  if (!init)
    init = writes ? tensor::EmptyOp::create(b, loc, sizes, element)
                  : zeros(b, loc, sizes, element);
  bool adds = accumulated || !writes;

  bool failedInside = false, isZero = false;
  auto nest = linalg::GenericOp::create(
      b, loc, init.getType(), values, init, maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        FailureOr<Value> cotangent =
            buildBody(body, args.drop_back(), target, mapping);
        failedInside = failed(cotangent);
        isZero = failedInside || !*cotangent;
        Value sum = args.back();
        if (!isZero) {
          Value term = convertElements(body, loc, *cotangent, sum.getType());
          sum = adds ? addInto(body, loc, sum, term) : term;
        }
        linalg::YieldOp::create(body, loc, sum);
      });
  if (failedInside || isZero) {
    nest.erase();
    if (failedInside)
      return failure();
    return Value();
  }
  return pruneInputs(b, nest).getResult(0);
}

LogicalResult GenericAdjoint::emitOperand(OpOperand &operand) {
  Value target = op.getMatchingBlockArgument(&operand);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return emitScalar(operand.get(), target);

  // A broadcast operand of size one is read at the constant position 0. The
  // adjoint has no loop for it: leave the dimension out, put it back below.
  SmallVector<AffineExpr> kept;
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      if (type.getDimSize(dim) == 1)
        continue;
      return op->emitOpError("has no derivative rule for an operand that is "
                             "read at a constant position");
    }
    kept.push_back(expr);
    sizes.push_back(tensor::getMixedSize(b, loc, operand.get(), dim));
  }
  AffineMap keptMap = AffineMap::get(map.getNumDims(), 0, kept, b.getContext());
  bool reduces = !keptMap.isPermutation();
  Type element = reduces ? getAccumulatorType(type.getElementType())
                         : type.getElementType();
  bool keepsAll = kept.size() == map.getNumResults();

  Value accumulated;
  if (keepsAll && element == type.getElementType())
    accumulated = vjp.takeCotangent(operand.get());
  FailureOr<Value> sum =
      emitLoopNest(target, sizes, element, keptMap, accumulated);
  if (failed(sum))
    return failure();
  if (accumulated) {
    vjp.setCotangent(operand.get(), *sum ? *sum : accumulated);
    return success();
  }
  if (!*sum)
    return success();
  Value cotangent = convertElements(b, loc, *sum, type.getElementType());
  if (!keepsAll) {
    auto full = RankedTensorType::get(type.getShape(), type.getElementType());
    cotangent = tensor::ExpandShapeOp::create(b, loc, full, cotangent,
                                              getUnitDimGroups(map));
  }
  vjp.accumulate(operand.get(), cotangent);
  return success();
}

LogicalResult GenericAdjoint::emitScalar(Value scalar, Value target) {
  FailureOr<Value> sum =
      emitLoopNest(target, {}, getAccumulatorType(scalar.getType()),
                   AffineMap::get(op.getNumLoops(), 0, b.getContext()), {});
  if (failed(sum))
    return failure();
  if (!*sum)
    return success();
  Value element = tensor::ExtractOp::create(b, loc, *sum, ValueRange{});
  vjp.accumulate(scalar, convertElements(b, loc, element, scalar.getType()));
  return success();
}

LogicalResult GenericAdjoint::emitGather(tensor::ExtractOp gather) {
  auto type = cast<RankedTensorType>(gather.getTensor().getType());
  SmallVector<int64_t> bounds = op.getStaticLoopRanges();
  if (!type.hasStaticShape() ||
      llvm::is_contained(bounds, ShapedType::kDynamic))
    return op->emitOpError("has no derivative rule for dynamic shapes");
  auto sumType = RankedTensorType::get(
      type.getShape(), getAccumulatorType(type.getElementType()));

  Value init;
  if (sumType.getElementType() == type.getElementType())
    init = vjp.takeCotangent(gather.getTensor());
  bool accumulates = static_cast<bool>(init);
  if (!init)
    init = zeros(b, loc, sumType);

  auto [values, maps] = getInputs();
  auto scatter = ScatterAddOp::create(b, loc, values, init, maps, bounds);
  Block &block = scatter.getBody().front();
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  IRMapping mapping;
  FailureOr<Value> cotangent =
      buildBody(body, block.getArguments(), gather.getResult(), mapping);
  if (failed(cotangent) || !*cotangent) {
    scatter.erase();
    if (accumulates)
      vjp.setCotangent(gather.getTensor(), init);
    return LogicalResult(cotangent);
  }
  SmallVector<Value> yielded;
  for (Value index : gather.getIndices())
    yielded.push_back(mapping.lookupOrDefault(index));
  yielded.push_back(
      convertElements(body, loc, *cotangent, sumType.getElementType()));
  YieldOp::create(body, loc, yielded);
  for (auto index :
       llvm::make_early_inc_range(block.getOps<linalg::IndexOp>())) {
    body.setInsertionPoint(index);
    index.replaceAllUsesWith(
        LoopIndexOp::create(body, loc, body.getIndexType(), index.getDim())
            .getResult());
    index.erase();
  }
  Value sum = pruneInputs(b, scatter).getResult();
  if (accumulates)
    vjp.setCotangent(gather.getTensor(), sum);
  else
    vjp.accumulate(gather.getTensor(),
                   convertElements(b, loc, sum, type.getElementType()));
  return success();
}

//===- BlockBatch.cpp - Batching over a block -----------------------------===//

#include "Batch/BlockBatch.h"

#include "Batch/BatchRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

LogicalResult BlockBatch::run(Block &block) {
  static const BatchRules rules;
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (!readsBatched(op))
      continue;
    for (Type type : op->getResultTypes())
      if (!getFormType(type))
        return emitError(op) << "its result has type " << type;
    b.setInsertionPoint(op);
    if (failed(rules.lookup(op)(op, *this)))
      return failure();
  }
  return success();
}

void BlockBatch::finish() {
  // Readers come after what they read.
  for (Operation *op : llvm::reverse(replacedOps))
    op->erase();
  for (BlockArgument argument : replacedArguments)
    argument.getOwner()->eraseArgument(argument.getArgNumber());
}

/// True for effects of `op` itself, not of what is in its regions.
static bool hasOwnEffects(Operation *op) {
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op))
    return !effects.hasNoEffect();
  return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

LogicalResult BlockBatch::checkEffects(Block &block) const {
  WalkResult result = block.walk([&](Operation *op) {
    if (!hasOwnEffects(op) || isa<cf::AssertOp, func::CallOp>(op) ||
        isa<InParallelOpInterface>(op->getParentOp()))
      return WalkResult::advance();
    emitError(op) << "it has side effects";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

InFlightDiagnostic BlockBatch::emitError(Operation *op) const {
  InFlightDiagnostic diag = op->emitOpError("cannot be batched: ");
  explain(*diag.getUnderlyingDiagnostic());
  return diag;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool BlockBatch::anyBatched(ArrayRef<OpFoldResult> values) const {
  return llvm::any_of(values, [&](OpFoldResult value) {
    auto dynamic = dyn_cast<Value>(value);
    return dynamic && isBatched(dynamic);
  });
}

bool BlockBatch::readsBatched(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value value) { return isBatched(value); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Value> BlockBatch::getBatchedCaptures(Operation *op) const {
  llvm::SetVector<Value> captures;
  getUsedValuesDefinedAbove(op->getRegions(), captures);
  return llvm::filter_to_vector(captures,
                                [&](Value value) { return isBatched(value); });
}

Value BlockBatch::getForm(Value value) {
  if (Value form = forms.lookup(value))
    return form;
  if (Value copy = copies.lookup(value))
    return copy;
  // There it serves all readers.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  // Destinations are not shared.
  if (value.getDefiningOp<tensor::EmptyOp>())
    return empty(value.getLoc(), value.getType(), getRowSizes(value));
  return copies[value] = broadcast(value);
}

/// Copies of `value` for each row, in the form that later stages know best.
Value BlockBatch::broadcast(Value value) {
  Location loc = value.getLoc();
  Type type = value.getType();
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, loc, fill.getInputs(),
                                  empty(loc, type, getRowSizes(value)))
        .getResult(0);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto elements = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(
          b, loc, elements.resizeSplat(cast<ShapedType>(getFormType(type))));
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return linalg::FillOp::create(b, loc, value, empty(loc, type)).getResult(0);
  return build(loc, type, getRowSizes(value),
               getInput(value, tensorType.getRank()),
               [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

void BlockBatch::batchArgument(BlockArgument argument) {
  Value form = argument.getOwner()->insertArgument(
      argument.getArgNumber(), getFormType(argument.getType()),
      argument.getLoc());
  setForm(argument, form);
  replacedArguments.push_back(argument);
}

void BlockBatch::replace(Operation *op, ValueRange results) {
  for (auto [result, form] : llvm::zip_equal(op->getResults(), results))
    setForm(result, form);
  erase(op);
}

void BlockBatch::replaceUnbatched(Operation *op, ValueRange results) {
  op->replaceAllUsesWith(results);
  erase(op);
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

Type BlockBatch::getFormType(Type row) const {
  if (row.isIntOrIndexOrFloat() || isa<ComplexType>(row))
    return RankedTensorType::get(size, row);
  auto tensor = dyn_cast<RankedTensorType>(row);
  if (!tensor)
    return {};
  SmallVector<int64_t> shape{size};
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

SmallVector<OpFoldResult> BlockBatch::getRowSizes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return {};
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(b.getContext(), type.getShape());
  if (Value form = forms.lookup(value))
    return llvm::to_vector(
        ArrayRef<OpFoldResult>(tensor::getMixedSizes(b, value.getLoc(), form))
            .drop_front());
  return tensor::getMixedSizes(b, value.getLoc(), value);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value BlockBatch::empty(Location loc, Type row, ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(getFormType(row));
  if (type.hasStaticShape())
    return tensor::EmptyOp::create(b, loc, type.getShape(),
                                   type.getElementType());
  return tensor::EmptyOp::create(b, loc, prepend(size, sizes),
                                 type.getElementType());
}

Value BlockBatch::build(Location loc, Type row, ArrayRef<OpFoldResult> sizes,
                        ArrayRef<Input> inputs, BodyBuilder body) {
  auto type = cast<RankedTensorType>(getFormType(row));
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    values.push_back(input.value);
    maps.push_back(input.map);
  }
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, values, empty(loc, row, sizes), maps, iterators,
             [&](OpBuilder &inner, Location loc, ValueRange args) {
               linalg::YieldOp::create(inner, loc, body(inner, loc, args));
             })
      .getResult(0);
}

BlockBatch::Input BlockBatch::getInput(Value value, unsigned rank) {
  SmallVector<AffineExpr> position;
  if (isBatched(value))
    position.push_back(b.getAffineDimExpr(0));
  if (isa<RankedTensorType>(value.getType()))
    for (unsigned i = 0; i < rank; ++i)
      position.push_back(b.getAffineDimExpr(i + 1));
  return {getFormOrSelf(value),
          AffineMap::get(rank + 1, 0, position, b.getContext())};
}

Value BlockBatch::extractRow(OpBuilder &builder, Location loc, Value value,
                             Value row) {
  Value form = forms.lookup(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return tensor::ExtractOp::create(builder, loc, form, row);
  // Slices of empty tensors do not verify.
  if (llvm::is_contained(type.getShape(), 0))
    return tensor::EmptyOp::create(
        builder, loc,
        ArrayRef(tensor::getMixedSizes(builder, loc, form)).drop_front(),
        type.getElementType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, form);
  sizes.front() = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  offsets.front() = row;
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, type, form, offsets,
                                        sizes, strides);
}

//===- GradRegionOps.cpp - Modes, checkpoints and scatter_add -------------===//

#include "GradDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// NoGradOp, EnableGradOp, CheckpointOp
//===----------------------------------------------------------------------===//

/// The region is entered from the op and leaves to its results.
template <typename OpTy>
static void getOnceSuccessors(OpTy op, RegionBranchPoint point,
                              SmallVectorImpl<RegionSuccessor> &successors) {
  if (point.isParent())
    successors.push_back(RegionSuccessor(&op.getBody()));
  else
    successors.push_back(RegionSuccessor(op.getOperation(), op->getResults()));
}

void NoGradOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceSuccessors(*this, point, successors);
}

void NoGradOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(1, 1);
}

void EnableGradOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceSuccessors(*this, point, successors);
}

void EnableGradOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(1, 1);
}

void CheckpointOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOnceSuccessors(*this, point, successors);
}

void CheckpointOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.emplace_back(1, 1);
}

//===----------------------------------------------------------------------===//
// ScatterAddOp
//===----------------------------------------------------------------------===//

void ScatterAddOp::build(OpBuilder &builder, OperationState &state,
                         ValueRange inputs, Value init,
                         ArrayRef<AffineMap> indexingMaps,
                         ArrayRef<int64_t> bounds) {
  state.addOperands(inputs);
  state.addOperands(init);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.indexing_maps = builder.getAffineMapArrayAttr(indexingMaps);
  properties.bounds = builder.getDenseI64ArrayAttr(bounds);
  state.addTypes(init.getType());

  Block &block = state.addRegion()->emplaceBlock();
  for (Value input : inputs)
    block.addArgument(getElementTypeOrSelf(input.getType()), input.getLoc());
}

/// Verifies that `map` selects an element of `input` at each point of the nest.
static LogicalResult verifyInput(ScatterAddOp op, unsigned index) {
  AffineMap map = cast<AffineMapAttr>(op.getIndexingMaps()[index]).getValue();
  Type type = op.getInputs()[index].getType();
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType && isa<ShapedType>(type))
    return op.emitOpError("input ")
           << index << " must be a ranked tensor or a scalar, got " << type;

  ArrayRef<int64_t> bounds = op.getBounds();
  if (map.getNumDims() != bounds.size() || map.getNumSymbols() != 0)
    return op.emitOpError("indexing map ")
           << index << " must have " << bounds.size()
           << " dimensions and no symbols";
  ArrayRef<int64_t> shape;
  if (tensorType)
    shape = tensorType.getShape();
  if (map.getNumResults() != shape.size())
    return op.emitOpError("indexing map ")
           << index << " must have " << shape.size() << " results";
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && !ShapedType::isDynamic(size) && bounds[dim.getPosition()] > size)
      return op.emitOpError("loop ")
             << dim.getPosition() << " of " << bounds[dim.getPosition()]
             << " iterations reads a dimension of size " << size << " of input "
             << index;
  }
  return success();
}

LogicalResult ScatterAddOp::verify() {
  if (getInit().getType() != getType())
    return emitOpError("init and result must have the same type");
  if (getIndexingMaps().size() != getInputs().size())
    return emitOpError("expects one indexing map an input, got ")
           << getIndexingMaps().size() << " for " << getInputs().size();
  for (int64_t bound : getBounds())
    if (bound < 0)
      return emitOpError("bounds must not be negative");
  for (unsigned i = 0, e = getInputs().size(); i < e; ++i)
    if (failed(verifyInput(*this, i)))
      return failure();
  // `grad.loop_index` names a loop by number alone, so passes that merge equal
  // ops would mix up the loops of two nests.
  if ((*this)->getParentOfType<ScatterAddOp>())
    return emitOpError("cannot be nested in another");
  return success();
}

YieldOp ScatterAddOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult ScatterAddOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("expects one block argument an input");
  for (auto [argument, input] :
       llvm::zip_equal(block.getArguments(), getInputs()))
    if (argument.getType() != getElementTypeOrSelf(input.getType()))
      return emitOpError("block argument ")
             << argument.getArgNumber() << " must have type "
             << getElementTypeOrSelf(input.getType()) << ", got "
             << argument.getType();

  auto resultType = cast<RankedTensorType>(getType());
  SmallVector<Type> expected(resultType.getRank(),
                             IndexType::get(getContext()));
  expected.push_back(resultType.getElementType());
  YieldOp yield = getYield();
  if (yield.getOperandTypes() == TypeRange(expected))
    return success();
  InFlightDiagnostic diagnostic = emitOpError("must yield ")
                                  << resultType.getRank()
                                  << " indices and a value of type "
                                  << resultType.getElementType();
  diagnostic.attachNote(yield.getLoc())
      << "yields (" << yield.getOperandTypes() << ")";
  return diagnostic;
}

/// Indices are not differentiable, so what is left is the init and whatever
/// the yielded value is made of; the analysis looks into the body for that.
bool ScatterAddOp::carriesGradient(OpOperand &, OpResult) { return true; }

LogicalResult LoopIndexOp::verify() {
  auto scatter = cast<ScatterAddOp>((*this)->getParentOp());
  int64_t numLoops = scatter.getBounds().size();
  if (getDim() < static_cast<uint64_t>(numLoops))
    return success();
  return emitOpError("loop ")
         << static_cast<int64_t>(getDim()) << " does not exist: the nest has "
         << numLoops << " loops";
}

//===- LinalgRules.cpp - Derivatives of the linalg dialect ----------------===//
//
// Structured ops, named and generic alike, are differentiated through their
// scalar body, see GenericAdjoint.h. `grad.scatter_add`, the adjoint of a
// gather, is differentiated with them, which closes the set.
//
//===----------------------------------------------------------------------===//

#include "Rules/BlockJvp.h"
#include "Rules/GenericAdjoint.h"
#include "Rules/GenericTangent.h"
#include "Rules/PruneInputs.h"
#include "Rules/Rules.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

namespace {

template <typename OpTy>
struct StructuredOp
    : DifferentiableOpInterface::ExternalModel<StructuredOp<OpTy>, OpTy> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return GenericAdjoint(cast<linalg::LinalgOp>(op), vjp).emit();
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    return GenericTangent(cast<linalg::LinalgOp>(op), jvp).emit();
  }
};

template <typename... OpTys>
void attachStructured(MLIRContext *context) {
  (OpTys::template attachInterface<StructuredOp<OpTys>>(*context), ...);
}

void attachLinalg(MLIRContext *context, linalg::LinalgDialect *) {
  attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
      >(context);
}

} // namespace

/// A generic over the points of `op`, with the body built by `build` from the
/// clone of the body of `op`, that returns one value of `element` a point.
static linalg::GenericOp
mapPoints(OpBuilder &b, ScatterAddOp op, Type element,
          function_ref<Value(OpBuilder &, ValueRange yielded)> build) {
  unsigned rank = op.getBounds().size();
  auto type = RankedTensorType::get(op.getBounds(), element);
  SmallVector<AffineMap> maps(
      op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, op.getLoc(), type, op.getInputs(), emptyLike(b, op.getLoc(), type),
      maps, iterators, [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(op.getBody().front().getArguments(), args.drop_back());
        for (Operation &inner : op.getBody().front().without_terminator()) {
          if (auto index = dyn_cast<LoopIndexOp>(inner))
            mapping.map(
                index.getResult(),
                linalg::IndexOp::create(body, loc, index.getDim()).getResult());
          else
            body.clone(inner, mapping);
        }
        SmallVector<Value> yielded;
        for (Value value : op.getYield().getOperands())
          yielded.push_back(mapping.lookupOrDefault(value));
        linalg::YieldOp::create(body, loc, build(body, yielded));
      });
}

LogicalResult ScatterAddOp::emitVjp(VjpBuilder &vjp) {
  Value cotangent = vjp.cotangent(getResult());
  if (!cotangent)
    return success();
  vjp.accumulate(getInit(), cotangent);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove((*this)->getRegions(), captured);
  auto needs = [&](Value value) { return vjp.needs(value); };
  if (llvm::none_of(getInputs(), needs) && llvm::none_of(captured, needs))
    return success();

  // The scatter is a map over the points followed by a plain scatter; the
  // cotangent of the map is a gather.
  OpBuilder &b = vjp.builder();
  Type element = getInit().getType().getElementType();
  linalg::GenericOp gathered =
      mapPoints(b, *this, element, [&](OpBuilder &body, ValueRange yielded) {
        return tensor::ExtractOp::create(body, getLoc(), cotangent,
                                         yielded.drop_back())
            .getResult();
      });
  linalg::GenericOp map =
      mapPoints(b, *this, element, [&](OpBuilder &, ValueRange yielded) {
        return yielded.back();
      });
  vjp.setCotangent(map.getResult(0), pruneInputs(b, gathered).getResult(0));
  LogicalResult status = GenericAdjoint(map, vjp).emit();
  vjp.takeCotangent(map.getResult(0));
  if (map->use_empty())
    map.erase();
  return status;
}

LogicalResult ScatterAddOp::emitJvp(JvpBuilder &jvp) {
  OpBuilder &b = jvp.builder();
  Value initTangent = jvp.tangent(getInit());
  Value sum = initTangent ? initTangent : zerosLike(b, getLoc(), getInit());

  // The same scatter with the tangent of the value it adds.
  SmallVector<Value> values(getInputs());
  SmallVector<AffineMap> maps(
      getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<unsigned> active;
  for (auto [number, input] : llvm::enumerate(getInputs()))
    if (Value tangent = jvp.tangent(input)) {
      active.push_back(number);
      values.push_back(tangent);
      maps.push_back(maps[number]);
    }
  auto scatter =
      ScatterAddOp::create(b, getLoc(), values, sum, maps, getBounds());
  Block &block = scatter.getBody().front();
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  IRMapping mapping;
  ValueRange args = block.getArguments();
  mapping.map(getBody().front().getArguments(),
              args.take_front(getInputs().size()));
  SmallVector<Operation *> clones;
  for (Operation &inner : getBody().front().without_terminator())
    clones.push_back(body.clone(inner, mapping));
  BlockJvp forward(body, &jvp);
  for (auto [at, number] : llvm::enumerate(active))
    forward.setTangent(args[number], args[getInputs().size() + at]);
  LogicalResult status = forward.run(clones);
  SmallVector<Value> yielded;
  for (Value value : getYield().getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  yielded.back() = forward.tangent(yielded.back());
  if (failed(status) || !yielded.back()) {
    scatter.erase();
    if (succeeded(status) && initTangent)
      jvp.setTangent(getResult(), initTangent);
    return status;
  }
  YieldOp::create(body, getLoc(), yielded);
  jvp.setTangent(getResult(), pruneInputs(b, scatter).getResult());
  return success();
}

void mlir::grad::registerLinalgRules(DialectRegistry &registry) {
  registry.addExtension(+attachLinalg);
}

//===- LinalgRules.cpp - Derivatives of the linalg dialect ----------------===//
//
// Structured ops, named and generic alike, are differentiated through their
// scalar body, see GenericAdjoint.h. `grad.scatter_add`, the adjoint of a
// gather, is differentiated with them, which closes the set.
//
//===----------------------------------------------------------------------===//

#include "Rules/GenericAdjoint.h"
#include "Rules/PruneInputs.h"
#include "Rules/Rules.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

namespace {

template <typename OpTy>
struct StructuredOp
    : DifferentiableOpInterface::ExternalModel<StructuredOp<OpTy>, OpTy> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return GenericAdjoint(cast<linalg::LinalgOp>(op), vjp).emit();
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
  if (llvm::none_of(getInputs(), [&](Value input) { return vjp.needs(input); }))
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

void mlir::grad::registerLinalgRules(DialectRegistry &registry) {
  registry.addExtension(+attachLinalg);
}

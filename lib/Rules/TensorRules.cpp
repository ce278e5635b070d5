//===- TensorRules.cpp - Derivatives of the tensor dialect ----------------===//
//
// Data movement is linear: the rule of an op is its transpose.
//
//===----------------------------------------------------------------------===//

#include "GradDialect.h"
#include "Rules/Expansion.h"
#include "Rules/Rules.h"
#include "Rules/TensorExpansions.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

namespace {

/// What the models share: linear ops with one tensor result.
template <typename Model, typename OpTy>
struct LinearModel : DifferentiableOpInterface::ExternalModel<Model, OpTy> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    Value cotangent = vjp.cotangent(op->getResult(0));
    if (!cotangent)
      return success();
    return Model::transpose(cast<OpTy>(op), cotangent, vjp);
  }

  /// A linear op maps tangents as it maps values: the same op on the tangents,
  /// zeros where there is none.
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    auto tangentOrZeros = [&](Value value) {
      Value tangent = jvp.tangent(value);
      return tangent ? tangent : zerosLike(jvp.builder(), op->getLoc(), value);
    };
    IRMapping mapping;
    for (Value value : op->getOperands())
      if (isDifferentiableType(value.getType()))
        mapping.map(value, tangentOrZeros(value));
    Value padding;
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      padding = tangentOrZeros(pad.getConstantPaddingValue());
    Operation *copy = jvp.builder().clone(*op, mapping);
    copy->walk([&](tensor::YieldOp yield) {
      yield.getValueMutable().assign(padding);
    });
    jvp.setTangent(op->getResult(0), copy->getResult(0));
    return success();
  }
};

/// What has been accumulated for `value`, or zeros to accumulate into.
Value takeOrZeros(VjpBuilder &vjp, Location loc, Value value) {
  if (Value taken = vjp.takeCotangent(value))
    return taken;
  return zerosLike(vjp.builder(), loc, value);
}

/// The slice of `source` as a tensor of `type`. Slices of empty tensors do not
/// verify, whatever their offset, and have no elements to copy.
Value extractSlice(OpBuilder &b, Location loc, RankedTensorType type,
                   Value source, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes,
                   ArrayRef<OpFoldResult> strides) {
  if (llvm::is_contained(type.getShape(), 0))
    return zeros(b, loc, type);
  return tensor::ExtractSliceOp::create(b, loc, type, source, offsets, sizes,
                                        strides);
}

/// `value` with zeros in place of a slice of the shape of `slice`.
Value clearSlice(OpBuilder &b, Location loc, Value slice, Value value,
                 ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                 ArrayRef<OpFoldResult> strides) {
  if (llvm::is_contained(cast<ShapedType>(slice.getType()).getShape(), 0))
    return value;
  return tensor::InsertSliceOp::create(b, loc, zerosLike(b, loc, slice), value,
                                       offsets, sizes, strides);
}

/// The elements of `slice` (offsets, sizes, strides of `source`) of the
/// cotangent of `source` grow by `cotangent`.
void accumulateSlice(VjpBuilder &vjp, Location loc, Value source,
                     Value cotangent, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     ArrayRef<OpFoldResult> strides) {
  OpBuilder &b = vjp.builder();
  auto type = cast<RankedTensorType>(cotangent.getType());
  if (llvm::is_contained(type.getShape(), 0))
    return;
  Value sum = vjp.takeCotangent(source);
  if (sum) {
    Value old = tensor::ExtractSliceOp::create(b, loc, type, sum, offsets,
                                               sizes, strides);
    cotangent = addInto(b, loc, old, cotangent);
  } else {
    sum = zerosLike(b, loc, source);
  }
  vjp.setCotangent(source,
                   tensor::InsertSliceOp::create(b, loc, cotangent, sum,
                                                 offsets, sizes, strides));
}

/// Becomes a tensor.expand_shape of the cotangent.
struct CollapseShape : LinearModel<CollapseShape, tensor::CollapseShapeOp> {
  static LogicalResult transpose(tensor::CollapseShapeOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (vjp.needs(op.getSrc()))
      vjp.accumulate(
          op.getSrc(),
          tensor::ExpandShapeOp::create(
              vjp.builder(), op.getLoc(), op.getSrcType(), cotangent,
              op.getReassociationIndices(),
              tensor::getMixedSizes(vjp.builder(), op.getLoc(), op.getSrc())));
    return success();
  }
};

/// Becomes a tensor.collapse_shape of the cotangent.
struct ExpandShape : LinearModel<ExpandShape, tensor::ExpandShapeOp> {
  static LogicalResult transpose(tensor::ExpandShapeOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (vjp.needs(op.getSrc()))
      vjp.accumulate(op.getSrc(),
                     tensor::CollapseShapeOp::create(
                         vjp.builder(), op.getLoc(), op.getSrcType(), cotangent,
                         op.getReassociationIndices()));
    return success();
  }
};

/// Becomes a tensor.reshape of the cotangent to the source's shape.
struct Reshape : LinearModel<Reshape, tensor::ReshapeOp> {
  static LogicalResult transpose(tensor::ReshapeOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (!vjp.needs(op.getSource()))
      return success();
    OpBuilder &b = vjp.builder();
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!type)
      return op.emitOpError("has no derivative rule for an unranked source");
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
        b, op.getLoc(), tensor::getMixedSizes(b, op.getLoc(), op.getSource()));
    Value shape = tensor::FromElementsOp::create(
        b, op.getLoc(),
        RankedTensorType::get({type.getRank()}, b.getIndexType()), sizes);
    vjp.accumulate(op.getSource(), tensor::ReshapeOp::create(
                                       b, op.getLoc(), type, cotangent, shape));
    return success();
  }
};

/// Becomes a tensor.cast of the cotangent.
struct Cast : LinearModel<Cast, tensor::CastOp> {
  static LogicalResult transpose(tensor::CastOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (vjp.needs(op.getSource()))
      vjp.accumulate(op.getSource(), tensor::CastOp::create(
                                         vjp.builder(), op.getLoc(),
                                         op.getSource().getType(), cotangent));
    return success();
  }
};

/// Becomes a tensor.insert_slice into zeros.
struct ExtractSlice : LinearModel<ExtractSlice, tensor::ExtractSliceOp> {
  static LogicalResult transpose(tensor::ExtractSliceOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (vjp.needs(op.getSource()))
      accumulateSlice(vjp, op.getLoc(), op.getSource(), cotangent,
                      op.getMixedOffsets(), op.getMixedSizes(),
                      op.getMixedStrides());
    return success();
  }
};

/// Becomes a tensor.extract_slice for the source and a hole for the
/// destination.
struct InsertSlice : LinearModel<InsertSlice, tensor::InsertSliceOp> {
  static LogicalResult transpose(tensor::InsertSliceOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    OpBuilder &b = vjp.builder();
    Location loc = op.getLoc();
    if (vjp.needs(op.getSource()))
      vjp.accumulate(op.getSource(),
                     extractSlice(b, loc, op.getSourceType(), cotangent,
                                  op.getMixedOffsets(), op.getMixedSizes(),
                                  op.getMixedStrides()));
    if (vjp.needs(op.getDest()))
      vjp.accumulate(op.getDest(),
                     clearSlice(b, loc, op.getSource(), cotangent,
                                op.getMixedOffsets(), op.getMixedSizes(),
                                op.getMixedStrides()));
    return success();
  }
};

/// Becomes a tensor.extract_slice; what is around it belongs to the padding
/// value.
struct Pad : LinearModel<Pad, tensor::PadOp> {
  /// True when the padding depends on the position.
  static bool isComputed(tensor::PadOp op) {
    return !op.getConstantPaddingValue();
  }

  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    auto pad = cast<tensor::PadOp>(op);
    if (!isComputed(pad))
      return LinearModel::emitVjp(op, vjp);
    return mlir::grad::detail::emitExpandedVjp(
        op, [&](OpBuilder &b) { return expandPad(b, pad); }, vjp);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    auto pad = cast<tensor::PadOp>(op);
    if (!isComputed(pad))
      return LinearModel::emitJvp(op, jvp);
    return mlir::grad::detail::emitExpandedJvp(
        op, [&](OpBuilder &b) { return expandPad(b, pad); }, jvp);
  }

  static LogicalResult transpose(tensor::PadOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    OpBuilder &b = vjp.builder();
    Location loc = op.getLoc();
    RankedTensorType source = op.getSourceType();
    SmallVector<OpFoldResult> offsets = op.getMixedLowPad();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, loc, op.getSource());
    SmallVector<OpFoldResult> strides(source.getRank(), b.getIndexAttr(1));
    if (vjp.needs(op.getSource()))
      vjp.accumulate(op.getSource(), extractSlice(b, loc, source, cotangent,
                                                  offsets, sizes, strides));
    Value padding = op.getConstantPaddingValue();
    if (vjp.needs(padding)) {
      Value hole = clearSlice(b, loc, op.getSource(), cotangent, offsets, sizes,
                              strides);
      vjp.accumulate(padding, sumElements(b, loc, hole));
    }
    return success();
  }
};

/// Becomes one tensor.extract_slice an operand.
struct Concat : LinearModel<Concat, tensor::ConcatOp> {
  static LogicalResult transpose(tensor::ConcatOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    OpBuilder &b = vjp.builder();
    Location loc = op.getLoc();
    int64_t rank = op.getResultType().getRank(), dim = op.getDim();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
    for (Value input : op.getInputs()) {
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input);
      if (vjp.needs(input))
        vjp.accumulate(
            input, extractSlice(b, loc, cast<RankedTensorType>(input.getType()),
                                cotangent, offsets, sizes, strides));
      offsets[dim] = addIndices(b, loc, offsets[dim], sizes[dim]);
    }
    return success();
  }
};

/// Becomes an addition to one element.
struct Extract : LinearModel<Extract, tensor::ExtractOp> {
  static LogicalResult transpose(tensor::ExtractOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (!vjp.needs(op.getTensor()))
      return success();
    OpBuilder &b = vjp.builder();
    Location loc = op.getLoc();
    Value sum = takeOrZeros(vjp, loc, op.getTensor());
    Value old = tensor::ExtractOp::create(b, loc, sum, op.getIndices());
    vjp.setCotangent(op.getTensor(),
                     tensor::InsertOp::create(b, loc,
                                              addInto(b, loc, old, cotangent),
                                              sum, op.getIndices()));
    return success();
  }
};

/// Becomes a tensor.extract for the scalar and a zero for the destination.
struct Insert : LinearModel<Insert, tensor::InsertOp> {
  static LogicalResult transpose(tensor::InsertOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    OpBuilder &b = vjp.builder();
    Location loc = op.getLoc();
    if (vjp.needs(op.getScalar()))
      vjp.accumulate(op.getScalar(), tensor::ExtractOp::create(
                                         b, loc, cotangent, op.getIndices()));
    if (vjp.needs(op.getDest()))
      vjp.accumulate(op.getDest(),
                     tensor::InsertOp::create(
                         b, loc, zeros(b, loc, op.getScalar().getType()),
                         cotangent, op.getIndices()));
    return success();
  }
};

/// Becomes one tensor.extract an operand.
struct FromElements : LinearModel<FromElements, tensor::FromElementsOp> {
  static LogicalResult transpose(tensor::FromElementsOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    OpBuilder &b = vjp.builder();
    auto type = cast<RankedTensorType>(op.getType());
    for (auto [number, element] : llvm::enumerate(op.getElements())) {
      if (!vjp.needs(element))
        continue;
      SmallVector<Value> indices;
      int64_t rest = number;
      for (int64_t size : llvm::reverse(type.getShape())) {
        indices.push_back(
            arith::ConstantIndexOp::create(b, op.getLoc(), rest % size));
        rest /= size;
      }
      std::reverse(indices.begin(), indices.end());
      vjp.accumulate(element, tensor::ExtractOp::create(b, op.getLoc(),
                                                        cotangent, indices));
    }
    return success();
  }
};

/// Becomes the sum of the cotangent.
struct Splat : LinearModel<Splat, tensor::SplatOp> {
  static LogicalResult transpose(tensor::SplatOp op, Value cotangent,
                                 VjpBuilder &vjp) {
    if (vjp.needs(op.getInput()))
      vjp.accumulate(op.getInput(),
                     sumElements(vjp.builder(), op.getLoc(), cotangent));
    return success();
  }
};

void attach(MLIRContext *context, tensor::TensorDialect *) {
  tensor::CollapseShapeOp::attachInterface<CollapseShape>(*context);
  tensor::ExpandShapeOp::attachInterface<ExpandShape>(*context);
  tensor::ReshapeOp::attachInterface<Reshape>(*context);
  tensor::CastOp::attachInterface<Cast>(*context);
  tensor::ExtractSliceOp::attachInterface<ExtractSlice>(*context);
  tensor::InsertSliceOp::attachInterface<InsertSlice>(*context);
  tensor::PadOp::attachInterface<Pad>(*context);
  tensor::ConcatOp::attachInterface<Concat>(*context);
  tensor::ExtractOp::attachInterface<Extract>(*context);
  tensor::InsertOp::attachInterface<Insert>(*context);
  tensor::FromElementsOp::attachInterface<FromElements>(*context);
  tensor::SplatOp::attachInterface<Splat>(*context);
}

} // namespace

void mlir::grad::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

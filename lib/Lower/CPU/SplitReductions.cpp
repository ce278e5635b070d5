//===- SplitReductions.cpp - Large reductions over blocks -----------------===//

#include "Lower/CPU/Buffers.h"
#include "Lower/CPU/Work.h"
#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// The op that adds a point to output `index`, if it may be applied to partial
/// results in any order, and its neutral element.
static Operation *getCombiner(linalg::GenericOp op, unsigned index,
                              TypedAttr &neutral) {
  Block &body = *op.getBody();
  BlockArgument accumulator = op.getRegionOutputArgs()[index];
  Value yielded = body.getTerminator()->getOperand(index);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != &body || !yielded.hasOneUse() ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner)
    return nullptr;
  if (!isa<arith::AddFOp, arith::AddIOp, arith::MulIOp, arith::AndIOp,
           arith::OrIOp, arith::XOrIOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
           arith::MaxUIOp, arith::MinUIOp>(combiner))
    return nullptr;
  std::optional<TypedAttr> element = arith::getNeutralElement(combiner);
  if (!element)
    return nullptr;
  neutral = *element;
  return combiner;
}

/// True if `dim` is a result of `map`, which then moves with it one to one.
static bool hasDim(AffineMap map, unsigned dim) {
  return llvm::is_contained(map.getResults(),
                            getAffineDimExpr(dim, map.getContext()));
}

namespace {
/// How an op is cut along one of its dimensions.
struct Cut {
  unsigned dim;
  int64_t numBlocks, blockSize;
  /// What is left over.
  int64_t rest;
};

/// Cuts one op.
class Splitter {
public:
  Splitter(linalg::GenericOp op)
      : op(op), builder(op), loc(op.getLoc()), sizes(op.getStaticLoopRanges()),
        work(estimateWork(op)) {}

  /// Returns false if nothing was to be done.
  bool run();

private:
  bool hasParallelDim();
  std::optional<Cut> chooseCut();
  bool canCut(unsigned dim, int64_t &partialElements);
  Value slice(OpOperand &operand, int64_t begin, int64_t size);
  Value toBlocks(OpOperand &operand);
  AffineMap toBlocks(AffineMap map, bool isPartial);
  void emitRest();
  Value allocatePartial(unsigned output, TypedAttr neutral);
  void combine(unsigned output, Operation *combiner, Value partial);
  using GetPosition = function_ref<Value(OpBuilder &, unsigned dim)>;
  void emit(ValueRange operands, ArrayRef<AffineMap> maps,
            ArrayRef<utils::IteratorType> iterators, GetPosition getPosition);

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<int64_t> sizes;
  double work;
  Cut cut{};
};
} // namespace

/// True if some dimension is in all outputs and divides well: along the rows
/// of contiguous memory, pieces should not be too short.
bool Splitter::hasParallelDim() {
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    AffineExpr expr = builder.getAffineDimExpr(dim);
    bool isInAll = true, isContiguous = false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      isInAll &= op.isDpsInput(&operand) || hasDim(map, dim);
      isContiguous |=
          map.getNumResults() != 0 && map.getResults().back() == expr;
    }
    if (isInAll && size >= (isContiguous ? 1024 : 16))
      return true;
  }
  return false;
}

/// True if every operand can be cut along `dim`, and every output that stays
/// put in it has a combiner.
bool Splitter::canCut(unsigned dim, int64_t &partialElements) {
  partialElements = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool has = hasDim(map, dim);
    // As a part of an expression, or twice.
    unsigned uses = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
      return expr.isFunctionOfDim(dim);
    });
    if (uses != (has ? 1 : 0))
      return false;
    if (has || op.isDpsInput(&operand))
      continue;
    TypedAttr neutral;
    unsigned output = operand.getOperandNumber() - op.getNumDpsInputs();
    if (!getCombiner(op, output, neutral))
      return false;
    partialElements +=
        cast<MemRefType>(operand.get().getType()).getNumElements();
  }
  return partialElements > 0;
}

std::optional<Cut> Splitter::chooseCut() {
  static constexpr int64_t kMaxBlocks = 64;
  static constexpr double kBlockWork = 5e3;
  // A partial result is written, read and combined.
  static constexpr double kPartialWork = 3;
  int64_t maxBlocks =
      std::min(kMaxBlocks, static_cast<int64_t>(work / kBlockWork));
  std::optional<Cut> best;
  int64_t fewest = 0;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t elements;
    if (size < 16 || !canCut(dim, elements))
      continue;
    int64_t blockSize = llvm::divideCeil(size, maxBlocks);
    Cut found{static_cast<unsigned>(dim), size / blockSize, blockSize,
              size % blockSize};
    if (found.numBlocks * elements * kPartialWork > work / 4 ||
        (best && elements >= fewest))
      continue;
    best = found;
    fewest = elements;
  }
  return best;
}

/// Iterations [begin, begin + size) of the dimension of the cut.
Value Splitter::slice(OpOperand &operand, int64_t begin, int64_t size) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!hasDim(map, cut.dim) || size == sizes[cut.dim])
    return operand.get();
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
  SmallVector<int64_t> extents(type.getShape());
  unsigned position = *map.getResultPosition(builder.getAffineDimExpr(cut.dim));
  offsets[position] = begin;
  extents[position] = size;
  return memref::SubViewOp::create(builder, loc, operand.get(), offsets,
                                   extents, strides);
}

/// A view in which blocks and positions in a block are dimensions.
Value Splitter::toBlocks(OpOperand &operand) {
  Value buffer = slice(operand, 0, cut.numBlocks * cut.blockSize);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!hasDim(map, cut.dim))
    return buffer;
  unsigned position = *map.getResultPosition(builder.getAffineDimExpr(cut.dim));
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, size] :
       llvm::enumerate(cast<MemRefType>(buffer.getType()).getShape())) {
    ReassociationIndices &group = groups.emplace_back();
    group.push_back(shape.size());
    if (i != position) {
      shape.push_back(size);
      continue;
    }
    group.push_back(shape.size() + 1);
    shape.push_back(cut.numBlocks);
    shape.push_back(cut.blockSize);
  }
  return memref::ExpandShapeOp::create(builder, loc, shape, buffer, groups);
}

/// `map` with the dimension of the cut as two: the block and the position in
/// it. A partial result has the block in front.
AffineMap Splitter::toBlocks(AffineMap map, bool isPartial) {
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < map.getNumDims(); ++i)
    dims.push_back(builder.getAffineDimExpr(i <= cut.dim ? i : i + 1));
  AffineExpr block = builder.getAffineDimExpr(cut.dim);
  AffineExpr inside = builder.getAffineDimExpr(cut.dim + 1);
  SmallVector<AffineExpr> results;
  if (isPartial)
    results.push_back(block);
  for (AffineExpr expr : map.getResults()) {
    results.push_back(expr.replaceDims(dims));
    if (results.back() == block)
      results.push_back(inside);
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, builder.getContext());
}

/// The op on other operands. Its body asks for positions in the dimensions of
/// the original.
void Splitter::emit(ValueRange operands, ArrayRef<AffineMap> maps,
                    ArrayRef<utils::IteratorType> iterators,
                    GetPosition getPosition) {
  unsigned numInputs = op.getNumDpsInputs();
  linalg::GenericOp::create(
      builder, loc, operands.take_front(numInputs),
      operands.drop_front(numInputs), maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), arguments);
        for (Operation &inner : *op.getBody()) {
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            mapping.map(index.getResult(),
                        getPosition(builder, index.getDim()));
          else
            builder.clone(inner, mapping);
        }
      });
}

/// What is beyond the last block goes to the results at once.
void Splitter::emitRest() {
  int64_t begin = cut.numBlocks * cut.blockSize;
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(slice(operand, begin, cut.rest));
  emit(operands, op.getIndexingMapsArray(), op.getIteratorTypesArray(),
       [&](OpBuilder &builder, unsigned dim) -> Value {
         Value position = linalg::IndexOp::create(builder, loc, dim);
         if (dim != cut.dim)
           return position;
         Value offset = arith::ConstantIndexOp::create(builder, loc, begin);
         return arith::AddIOp::create(builder, loc, position, offset);
       });
}

/// A buffer for the partial results of an output, filled with `neutral`.
Value Splitter::allocatePartial(unsigned output, TypedAttr neutral) {
  auto type = cast<MemRefType>(op.getDpsInitOperand(output)->get().getType());
  SmallVector<int64_t> shape{cut.numBlocks};
  llvm::append_range(shape, type.getShape());
  Value partial = memref::AllocOp::create(
      builder, loc, MemRefType::get(shape, type.getElementType()));
  Value element = arith::ConstantOp::create(builder, loc, neutral);
  linalg::FillOp::create(builder, loc, element, partial);
  return partial;
}

void Splitter::combine(unsigned output, Operation *combiner, Value partial) {
  Value result = op.getDpsInitOperand(output)->get();
  unsigned rank = cast<MemRefType>(partial.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  BlockArgument accumulator = op.getRegionOutputArgs()[output];
  linalg::GenericOp::create(
      builder, loc, partial, result, {identity, identity.dropResult(0)},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Operation *combined = builder.clone(*combiner);
        for (OpOperand &operand : combined->getOpOperands())
          operand.set(operand.get() == accumulator ? arguments[1]
                                                   : arguments[0]);
        linalg::YieldOp::create(builder, loc, combined->getResult(0));
      });
}

bool Splitter::run() {
  if (work < kParallelWork || hasParallelDim())
    return false;
  std::optional<Cut> chosen = chooseCut();
  if (!chosen)
    return false;
  cut = *chosen;
  if (cut.rest)
    emitRest();

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<std::tuple<unsigned, Operation *, Value>> partials;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isPartial = !op.isDpsInput(&operand) && !hasDim(map, cut.dim);
    maps.push_back(toBlocks(map, isPartial));
    if (!isPartial) {
      operands.push_back(toBlocks(operand));
      continue;
    }
    unsigned output = operand.getOperandNumber() - op.getNumDpsInputs();
    TypedAttr neutral;
    Operation *combiner = getCombiner(op, output, neutral);
    operands.push_back(allocatePartial(output, neutral));
    partials.emplace_back(output, combiner, operands.back());
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + cut.dim, utils::IteratorType::parallel);
  emit(operands, maps, iterators,
       [&](OpBuilder &builder, unsigned dim) -> Value {
         Value position = linalg::IndexOp::create(
             builder, loc, dim < cut.dim ? dim : dim + 1);
         if (dim != cut.dim)
           return position;
         Value block = linalg::IndexOp::create(builder, loc, dim);
         Value size =
             arith::ConstantIndexOp::create(builder, loc, cut.blockSize);
         Value begin = arith::MulIOp::create(builder, loc, block, size);
         return arith::AddIOp::create(builder, loc, begin, position);
       });
  for (auto [output, combiner, partial] : partials)
    combine(output, combiner, partial);
  op.erase();
  return true;
}

namespace {
struct SplitReductionsPass
    : grad::impl::SplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics() && op.getNumReductionLoops() != 0 &&
          llvm::all_of(op->getOperandTypes(), [](Type type) {
            auto buffer = dyn_cast<MemRefType>(type);
            return !buffer || getStaticLayout(buffer).has_value();
          }))
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops)
      if (Splitter(op).run())
        ++numSplit;
  }
};
} // namespace

//===- LinalgToLoops.cpp - Loops that LLVM vectorizes ---------------------===//
//
// Each operand is a base pointer and one stride a loop: the linear part of
// its indexing map times the strides of its layout. In that form the choice
// of the innermost loop, the merging of loops and the question which elements
// stay put in the innermost loop are arithmetic on strides. Ops whose maps or
// layouts are not of that form take upstream's lowering.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/Buffers.h"
#include "Lower/CPU/Work.h"
#include "Lower/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LINALGTOLOOPSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// An operand in flat memory.
struct Access {
  Value buffer;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
};

/// One loop of the nest; `dim` is its dimension in the op, or the innermost
/// of those that were merged.
struct LoopDim {
  unsigned dim;
  int64_t size;
};
} // namespace

/// Adds `scale * expr` to the strides and offset of `access`. Fails unless
/// `expr` is linear.
static LogicalResult addLinear(AffineExpr expr, int64_t scale, Access &access) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    access.strides[dim.getPosition()] += scale;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    access.offset += scale * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), scale, access)) &&
                   succeeded(addLinear(binary.getRHS(), scale, access)));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor)
    return failure();
  return addLinear(binary.getLHS(), scale * factor.getValue(), access);
}

static std::optional<Access> getAccess(linalg::GenericOp op,
                                       OpOperand &operand) {
  Access access{operand.get(), SmallVector<int64_t>(op.getNumLoops(), 0)};
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return access;
  std::optional<StaticLayout> layout = getStaticLayout(type);
  if (!layout)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [result, stride] : llvm::zip(map.getResults(), layout->strides))
    if (failed(addLinear(result, stride, access)))
      return std::nullopt;
  // The flat view begins at the offset of the layout.
  return access;
}

/// What a loop costs as the innermost one: contiguous accesses are cheap,
/// fixed ones are free, and outputs count twice.
static int64_t getInnermostCost(unsigned dim, ArrayRef<Access> accesses,
                                unsigned numInputs) {
  int64_t cost = 0;
  for (auto [i, access] : llvm::enumerate(accesses)) {
    int64_t stride = std::abs(access.strides[dim]);
    int64_t each = stride == 0 ? 0 : stride == 1 ? 1 : 8;
    cost += i < numInputs ? each : 2 * each;
  }
  return cost;
}

/// Loops with more than one iteration, outermost first.
static SmallVector<LoopDim> orderLoops(ArrayRef<int64_t> ranges,
                                       ArrayRef<Access> accesses,
                                       unsigned numInputs) {
  SmallVector<LoopDim> loops;
  for (auto [dim, size] : llvm::enumerate(ranges))
    if (size != 1)
      loops.push_back({static_cast<unsigned>(dim), size});
  if (loops.size() < 2)
    return loops;
  // Few iterations do not pay for a vector loop, whatever their strides.
  auto cost = [&](const LoopDim &loop) {
    return getInnermostCost(loop.dim, accesses, numInputs) +
           (loop.size < 8 ? 16 : 0);
  };
  auto *innermost = &loops.back();
  for (LoopDim &loop : llvm::reverse(loops))
    if (cost(loop) < cost(*innermost))
      innermost = &loop;
  LoopDim chosen = *innermost;
  loops.erase(innermost);
  auto reach = [&](const LoopDim &loop) {
    int64_t sum = 0;
    for (auto [i, access] : llvm::enumerate(accesses))
      sum += std::abs(access.strides[loop.dim]) * (i < numInputs ? 1 : 2);
    return sum;
  };
  llvm::stable_sort(loops, [&](const LoopDim &a, const LoopDim &b) {
    return reach(a) > reach(b);
  });
  loops.push_back(chosen);
  return loops;
}

/// Merges neighbours that every operand walks through as if they were one.
static void mergeLoops(SmallVector<LoopDim> &loops, ArrayRef<Access> accesses) {
  for (unsigned i = loops.size(); i-- > 1;) {
    LoopDim &outer = loops[i - 1], &inner = loops[i];
    bool merges = llvm::all_of(accesses, [&](const Access &access) {
      return access.strides[outer.dim] ==
             access.strides[inner.dim] * inner.size;
    });
    if (!merges)
      continue;
    outer = {inner.dim, outer.size * inner.size};
    loops.erase(loops.begin() + i);
  }
}

/// True if different points never share an element of `access`, apart from the
/// loops over which all of it stays put.
static bool isInjective(const Access &access, ArrayRef<LoopDim> loops) {
  SmallVector<std::pair<int64_t, int64_t>> steps;
  for (const LoopDim &loop : loops)
    if (int64_t stride = access.strides[loop.dim])
      steps.emplace_back(stride, loop.size);
  llvm::sort(steps);
  int64_t reach = 0;
  return llvm::all_of(steps, [&](auto step) {
    auto [stride, size] = step;
    bool isBeyond = stride > reach;
    reach += stride * (size - 1);
    return isBeyond;
  });
}

/// The loop to divide among threads: of those that move over every output, the
/// outermost that has enough iterations for many threads, or else the longest.
static std::optional<unsigned> chooseParallelLoop(ArrayRef<LoopDim> loops,
                                                  ArrayRef<Access> outputs) {
  static constexpr int64_t kEnough = 64;
  if (!llvm::all_of(outputs, [&](const Access &output) {
        return isInjective(output, loops);
      }))
    return std::nullopt;
  std::optional<unsigned> chosen;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    bool isParallel = llvm::all_of(outputs, [&](const Access &output) {
      return output.strides[loop.dim] != 0;
    });
    if (!isParallel)
      continue;
    if (loop.size >= kEnough)
      return i;
    if (!chosen || loop.size > loops[*chosen].size)
      chosen = i;
  }
  return chosen;
}

namespace {
/// Emits the nest of one op.
class NestEmitter {
public:
  NestEmitter(linalg::GenericOp op, SmallVector<Access> accesses)
      : op(op), builder(op), loc(op.getLoc()), accesses(std::move(accesses)) {}

  void emit();

private:
  void flatten(Access &access);
  int64_t getGrain(unsigned loop);
  Value getIndex(const Access &access, bool innermost);
  Value load(const Access &access, Value index);
  void emitBody(ValueRange carried, SmallVectorImpl<Value> &next);
  bool isCarried(const Access &access) const {
    return !loops.empty() && access.strides[loops.back().dim] == 0;
  }

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<Access> accesses;
  SmallVector<LoopDim> loops;
  SmallVector<Value> inductions;
};
} // namespace

/// Replaces the buffer of `access` by a one-dimensional view of its memory.
void NestEmitter::flatten(Access &access) {
  auto type = dyn_cast<MemRefType>(access.buffer.getType());
  if (!type)
    return;
  StaticLayout layout = *getStaticLayout(type);
  int64_t span = type.getNumElements() == 0 ? 0 : 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides))
    span += span ? (size - 1) * stride : 0;
  auto flat = MemRefType::get(
      span, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), layout.offset, {1}));
  OpFoldResult offset = builder.getIndexAttr(layout.offset);
  if (!layout.hasStaticOffset())
    offset =
        memref::ExtractStridedMetadataOp::create(builder, loc, access.buffer)
            .getOffset();
  access.buffer = memref::ReinterpretCastOp::create(
      builder, loc, flat, access.buffer, offset,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(span)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

/// The position in the flat buffer. With `innermost` false, that of the first
/// iteration of the innermost loop.
Value NestEmitter::getIndex(const Access &access, bool innermost) {
  auto flags = arith::IntegerOverflowFlags::nsw;
  Value index;
  for (auto [loop, induction] : llvm::zip(loops, inductions)) {
    if (!innermost && &loop == &loops.back())
      continue;
    int64_t stride = access.strides[loop.dim];
    if (stride == 0)
      continue;
    Value term = induction;
    if (stride != 1)
      term = arith::MulIOp::create(
          builder, loc, term,
          arith::ConstantIndexOp::create(builder, loc, stride), flags);
    index = index ? arith::AddIOp::create(builder, loc, index, term, flags)
                        .getResult()
                  : term;
  }
  if (access.offset != 0 || !index) {
    Value offset = arith::ConstantIndexOp::create(builder, loc, access.offset);
    index = index ? arith::AddIOp::create(builder, loc, index, offset, flags)
                        .getResult()
                  : offset;
  }
  return index;
}

Value NestEmitter::load(const Access &access, Value index) {
  if (!isa<MemRefType>(access.buffer.getType()))
    return access.buffer;
  return memref::LoadOp::create(builder, loc, access.buffer, index);
}

/// A sum that is carried around a loop may be split into partial sums.
static void allowReassociation(Value value, Value accumulator) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  if (add && (add.getLhs() == accumulator || add.getRhs() == accumulator))
    add.setFastmath(add.getFastmath() | arith::FastMathFlags::reassoc);
}

/// One iteration: `carried` are the values of the outputs that stay put, `next`
/// receives their new values.
void NestEmitter::emitBody(ValueRange carried, SmallVectorImpl<Value> &next) {
  Block &body = op.getRegion().front();
  unsigned numInputs = op.getNumDpsInputs();
  IRMapping mapping;
  SmallVector<Value> indices(accesses.size());
  unsigned numCarried = 0;
  for (auto [i, access] : llvm::enumerate(accesses)) {
    BlockArgument argument = body.getArgument(i);
    if (i >= numInputs && isCarried(access)) {
      mapping.map(argument, carried[numCarried++]);
      continue;
    }
    if (isa<MemRefType>(access.buffer.getType()))
      indices[i] = getIndex(access, /*innermost=*/true);
    if (!argument.use_empty())
      mapping.map(argument, load(access, indices[i]));
  }
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value value;
      for (auto [loop, induction] : llvm::zip(loops, inductions))
        if (loop.dim == index.getDim())
          value = induction;
      if (!value)
        value = arith::ConstantIndexOp::create(builder, loc, 0);
      mapping.map(index.getResult(), value);
      continue;
    }
    builder.clone(inner, mapping);
  }
  for (auto [i, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    Value value = mapping.lookupOrDefault(yielded);
    const Access &access = accesses[numInputs + i];
    if (!isCarried(access)) {
      memref::StoreOp::create(builder, loc, value, access.buffer,
                              indices[numInputs + i]);
      continue;
    }
    allowReassociation(value, carried[next.size()]);
    next.push_back(value);
  }
}

/// Iterations of `loop` that are worth a thread, or 0 if all of them are not.
int64_t NestEmitter::getGrain(unsigned loop) {
  double work = estimateWork(op);
  if (work < kParallelWork)
    return 0;
  int64_t size = loops[loop].size;
  auto grain = static_cast<int64_t>(std::ceil(size * kGrainWork / work));
  // Cuts through a row stay away from what a vector, or a line of the cache,
  // holds.
  if (loop + 1 == loops.size())
    grain = llvm::alignTo(grain, 64);
  return grain < size ? grain : 0;
}

void NestEmitter::emit() {
  unsigned numInputs = op.getNumDpsInputs();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  loops = orderLoops(ranges, accesses, numInputs);
  // Positions are asked for by dimension: those have to stay apart.
  if (op.getRegion().front().getOps<linalg::IndexOp>().empty())
    mergeLoops(loops, accesses);
  std::optional<unsigned> parallel =
      chooseParallelLoop(loops, ArrayRef(accesses).drop_front(numInputs));
  int64_t grain = parallel ? getGrain(*parallel) : 0;
  auto markParallel = [&](scf::ForOp loop, unsigned index) {
    if (grain != 0 && index == *parallel)
      loop->setAttr(kGrainAttr, builder.getI64IntegerAttr(grain));
  };
  for (Access &access : accesses)
    flatten(access);

  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> next;
  if (loops.empty()) {
    emitBody({}, next);
    return;
  }
  for (const LoopDim &loop : ArrayRef(loops).drop_back()) {
    Value size = arith::ConstantIndexOp::create(builder, loc, loop.size);
    auto outer = scf::ForOp::create(builder, loc, zero, size, one);
    markParallel(outer, inductions.size());
    inductions.push_back(outer.getInductionVar());
    builder.setInsertionPointToStart(outer.getBody());
  }

  SmallVector<Value> fixedIndices, initial;
  SmallVector<const Access *> fixed;
  inductions.push_back(Value());
  for (const Access &access : ArrayRef(accesses).drop_front(numInputs))
    if (isCarried(access)) {
      fixed.push_back(&access);
      fixedIndices.push_back(getIndex(access, /*innermost=*/false));
      initial.push_back(load(access, fixedIndices.back()));
    }
  Value size = arith::ConstantIndexOp::create(builder, loc, loops.back().size);
  auto innermost = scf::ForOp::create(builder, loc, zero, size, one, initial);
  markParallel(innermost, loops.size() - 1);
  inductions.back() = innermost.getInductionVar();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(innermost.getBody());
    emitBody(innermost.getRegionIterArgs(), next);
    if (!initial.empty())
      scf::YieldOp::create(builder, loc, next);
  }
  for (auto [access, index, result] :
       llvm::zip(fixed, fixedIndices, innermost.getResults()))
    memref::StoreOp::create(builder, loc, result, access->buffer, index);
}

namespace {
struct LinalgToLoopsPass
    : grad::impl::LinalgToLoopsPassBase<LinalgToLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(lower(rewriter, op)))
        return signalPassFailure();
  }

  LogicalResult lower(IRRewriter &rewriter, linalg::LinalgOp op) {
    SmallVector<Access> accesses;
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    bool isLinear =
        generic && !ShapedType::isDynamicShape(generic.getStaticLoopRanges());
    if (isLinear)
      for (OpOperand &operand : generic->getOpOperands()) {
        std::optional<Access> access = getAccess(generic, operand);
        isLinear &= access.has_value();
        if (access)
          accesses.push_back(*access);
      }
    rewriter.setInsertionPoint(op);
    if (isLinear)
      NestEmitter(generic, std::move(accesses)).emit();
    else if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("cannot be lowered to loops");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

//===- ContractToGemm.cpp - Contractions call the matrix product ----------===//
//
// The loops of a contraction fall into four classes by the operands that they
// move over: rows (left factor and result), columns (right factor and result),
// the summed dimension (both factors) and batch (all three). Within a class,
// loops whose strides nest collapse into one. The largest of each of the
// first three classes is the matrix product; all the rest is a loop nest
// around it.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/Buffers.h"
#include "Lower/CPU/Contraction.h"
#include "Lower/Passes.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_CONTRACTTOGEMMPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// A loop, with the distance that it moves over each operand; 0 where it
/// moves over none.
struct Loop {
  int64_t size = 1;
  int64_t lhs = 0, rhs = 0, out = 0;
};

/// The loops of a contraction by class.
struct GemmLoops {
  Loop rows, cols, sum;
  /// Loops around the call.
  SmallVector<Loop> outer;
  /// True when one of the outer loops sums: the calls have to accumulate.
  bool sumsOutside = false;
};
} // namespace

/// Merges loops of one class whose strides nest in every operand.
static SmallVector<Loop> collapse(SmallVector<Loop> loops) {
  llvm::stable_sort(loops, [](const Loop &a, const Loop &b) {
    return std::max(a.out, a.lhs) < std::max(b.out, b.lhs);
  });
  SmallVector<Loop> merged;
  for (const Loop &loop : loops) {
    if (!merged.empty()) {
      Loop &inner = merged.back();
      if (loop.lhs == inner.lhs * inner.size &&
          loop.rhs == inner.rhs * inner.size &&
          loop.out == inner.out * inner.size) {
        inner.size *= loop.size;
        continue;
      }
    }
    merged.push_back(loop);
  }
  return merged;
}

/// Takes the largest loop out of `loops`; one without extent if there is none.
static Loop takeLargest(SmallVector<Loop> &loops) {
  if (loops.empty())
    return Loop();
  auto *largest = llvm::max_element(
      loops, [](const Loop &a, const Loop &b) { return a.size < b.size; });
  Loop result = *largest;
  loops.erase(largest);
  return result;
}

/// The distance that loop `dim` moves over an operand with `map` and `strides`.
static int64_t getStride(AffineMap map, ArrayRef<int64_t> strides,
                         unsigned dim) {
  for (auto [i, result] : llvm::enumerate(map.getResults()))
    if (cast<AffineDimExpr>(result).getPosition() == dim)
      return strides[i];
  return 0;
}

static std::optional<GemmLoops> classify(linalg::GenericOp op,
                                         const SumOfProducts &sum) {
  auto staticStrides =
      [](OpOperand *operand) -> std::optional<SmallVector<int64_t>> {
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(operand->get().getType());
    if (!type.hasStaticShape() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return std::nullopt;
    return strides;
  };
  auto lhsStrides = staticStrides(sum.lhs), rhsStrides = staticStrides(sum.rhs),
       outStrides = staticStrides(sum.out);
  if (!lhsStrides || !rhsStrides || !outStrides)
    return std::nullopt;

  llvm::SmallBitVector inLhs = usedDims(sum.lhsMap),
                       inRhs = usedDims(sum.rhsMap),
                       inOut = usedDims(sum.outMap);
  SmallVector<Loop> rows, cols, sums, batch;
  for (auto [dim, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (size == 1)
      continue;
    Loop loop{size, getStride(sum.lhsMap, *lhsStrides, dim),
              getStride(sum.rhsMap, *rhsStrides, dim),
              getStride(sum.outMap, *outStrides, dim)};
    bool l = inLhs.test(dim), r = inRhs.test(dim), o = inOut.test(dim);
    (l && r && o ? batch
     : l && o    ? rows
     : r && o    ? cols
                 : sums)
        .push_back(loop);
  }
  GemmLoops loops;
  rows = collapse(rows);
  cols = collapse(cols);
  sums = collapse(sums);
  loops.rows = takeLargest(rows);
  loops.cols = takeLargest(cols);
  loops.sum = takeLargest(sums);
  loops.sumsOutside = !sums.empty();
  for (SmallVector<Loop> *rest : {&batch, &rows, &cols, &sums})
    llvm::append_range(loops.outer, *rest);
  return loops;
}

/// The zero fill that `op` accumulates onto, when nothing that could touch the
/// buffer stands between the two.
static linalg::FillOp findZeroFill(linalg::GenericOp op, Value out) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before);
        fill && fill.getOutputs()[0] == out) {
      Value value = fill.getInputs()[0];
      return matchPattern(value, m_AnyZeroFloat()) ? fill : linalg::FillOp();
    }
    if (isMemoryEffectFree(before) ||
        isa<memref::AllocOp, linalg::FillOp, linalg::GenericOp>(before)) {
      if (llvm::all_of(before->getOperands(), [&](Value operand) {
            return !isa<MemRefType>(operand.getType()) ||
                   isMemoryEffectFree(before) || areDistinct(operand, out);
          }))
        continue;
    }
    return nullptr;
  }
  return nullptr;
}

namespace {
struct ContractToGemmPass
    : grad::impl::ContractToGemmPassBase<ContractToGemmPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    // Backwards, so that what stands before a contraction is still in the form
    // that the search for its zero fill understands.
    for (linalg::GenericOp op : llvm::reverse(ops))
      if (op.hasPureBufferSemantics() && isGemmLike(op))
        lower(op);
  }

  void lower(linalg::GenericOp op) {
    if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
      op.erase();
      return;
    }
    SumOfProducts sum = *matchSumOfProducts(op);
    std::optional<GemmLoops> loops = classify(op, sum);
    if (!loops)
      return;
    bool accumulate = true;
    if (!loops->sumsOutside) {
      if (linalg::FillOp fill = findZeroFill(op, sum.out->get())) {
        fill.erase();
        accumulate = false;
      }
    }
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(sum.out->get().getType());
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    SmallVector<Value> addresses;
    for (OpOperand *operand : {sum.lhs, sum.rhs, sum.out})
      addresses.push_back(getAddress(builder, loc, operand->get(), bytes));

    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    for (const Loop &loop : loops->outer) {
      Value size = arith::ConstantIndexOp::create(builder, loc, loop.size);
      auto nest = scf::ForOp::create(builder, loc, zero, size, one);
      builder.setInsertionPointToStart(nest.getBody());
      std::array<int64_t, 3> strides = {loop.lhs, loop.rhs, loop.out};
      for (auto [address, stride] : llvm::zip(addresses, strides))
        address = advance(builder, loc, address, nest.getInductionVar(),
                          stride * bytes);
    }

    SmallVector<Value> arguments;
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = builder.getI64Type();
    for (Value address : addresses) {
      Value integer = arith::IndexCastOp::create(builder, loc, i64, address);
      arguments.push_back(
          LLVM::IntToPtrOp::create(builder, loc, pointer, integer));
    }
    for (int64_t number :
         {loops->rows.size, loops->cols.size, loops->sum.size, loops->rows.lhs,
          loops->sum.lhs, loops->sum.rhs, loops->cols.rhs, loops->rows.out,
          loops->cols.out, int64_t(accumulate)})
      arguments.push_back(LLVM::ConstantOp::create(
          builder, loc, builder.getI64IntegerAttr(number)));
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
        builder, getOperation(),
        element.isF32() ? "gradc_gemm_f32" : "gradc_gemm_f64",
        llvm::to_vector(ValueRange(arguments).getTypes()),
        LLVM::LLVMVoidType::get(&getContext()));
    LLVM::CallOp::create(builder, loc, *callee, arguments);
    op.erase();
    ++numContractions;
  }

  /// The address of the first element of `buffer`, as an index.
  static Value getAddress(OpBuilder &builder, Location loc, Value buffer,
                          int64_t bytes) {
    auto type = cast<MemRefType>(buffer.getType());
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    if (type.getLayout().isIdentity())
      return address;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    return advance(builder, loc, address, metadata.getOffset(), bytes);
  }

  static Value advance(OpBuilder &builder, Location loc, Value address,
                       Value count, int64_t step) {
    if (step == 0)
      return address;
    Value distance = arith::MulIOp::create(
        builder, loc, count,
        arith::ConstantIndexOp::create(builder, loc, step));
    return arith::AddIOp::create(builder, loc, address, distance);
  }
};
} // namespace

//===- Contraction.h - Sums of products -------------------------*- C++ -*-===//
//
// Contractions and convolutions, with all their gradients, are one thing:
// a `linalg.generic` that adds products of two operands into a third.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_LOWER_CPU_CONTRACTION_H
#define GRADC_LOWER_CPU_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

/// The three operands of `out[outMap] += lhs[lhsMap] * rhs[rhsMap]`.
struct SumOfProducts {
  OpOperand *lhs, *rhs, *out;
  AffineMap lhsMap, rhsMap, outMap;
};

/// Matches `op`, on tensors or buffers. The body may widen the factors with
/// `arith.extf` before it multiplies them.
std::optional<SumOfProducts> matchSumOfProducts(linalg::GenericOp op);

/// True when every element of one factor meets several of the other, so that
/// a matrix product has something to reuse: elementwise products and plain
/// dot products are left to loops.
bool hasReuse(const SumOfProducts &sum, ArrayRef<int64_t> ranges);

/// True when the sum is one that BLAS can do: f32 or f64 throughout, maps that
/// are projected permutations, and reuse.
bool isGemmLike(linalg::GenericOp op);

/// The body `acc + a * b`.
void buildSumOfProductsBody(OpBuilder &builder, Location loc, ValueRange args);

/// The dimensions that occur in `map`.
llvm::SmallBitVector usedDims(AffineMap map);

} // namespace mlir::grad

#endif // GRADC_LOWER_CPU_CONTRACTION_H

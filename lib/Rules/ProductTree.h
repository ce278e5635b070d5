//===- ProductTree.h - A product reduction as elementwise products -*- C++ -*-//
//
// The derivative of a product by one factor is the product of the others. It
// must not be had by division, for factors that are zero. A tree of products
// of halves computes the product in as many steps as there are factors; its
// adjoint, by the rule of a product of two, computes all of those products in
// twice as many, and so on to any order.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_PRODUCTTREE_H
#define GRADC_RULES_PRODUCTTREE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

class ProductTree {
public:
  /// For result `number` of `op`, which is a product, see Reduction.h.
  ProductTree(linalg::LinalgOp op, unsigned number)
      : op(op), number(number), loc(op->getLoc()) {}

  /// Emits ops that compute the result. On failure, emits an error on the op.
  LogicalResult build(OpBuilder &b);

  ArrayRef<Operation *> getOps() const { return ops; }
  Value getProduct() const { return product; }

private:
  LogicalResult orderLoops();
  Value buildFactors(OpBuilder &b);
  Value multiply(OpBuilder &b, Value factors);
  Value buildProduct(OpBuilder &b);

  linalg::LinalgOp op;
  unsigned number;
  Location loc;
  /// Loops that the result has a dimension for, in its order, and the others.
  SmallVector<unsigned> kept, reduced;
  SmallVector<int64_t> ranges;
  SmallVector<Operation *> ops;
  Value product;
};

} // namespace mlir::grad

#endif // GRADC_RULES_PRODUCTTREE_H

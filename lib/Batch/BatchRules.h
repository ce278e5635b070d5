//===- BatchRules.h - How ops are batched -----------------------*- C++ -*-===//
//
// A rule for one more op is one entry in the table of one of the files beside
// this one. Ops that have no rule run row by row in a loop.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_BATCH_BATCHRULES_H
#define GRADC_BATCH_BATCHRULES_H

#include "Batch/BlockBatch.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::grad {

/// Emits an op on batched forms, at the insertion point of the builder, and
/// ends with `BlockBatch::replace`. On failure, emits an error on the op.
using BatchRule = LogicalResult (*)(Operation *op, BlockBatch &batch);

class BatchRules {
public:
  BatchRules();

  /// The rule of `op`.
  BatchRule lookup(Operation *op) const;

  template <typename... OpTys>
  void add(BatchRule rule) {
    ((rules[TypeID::get<OpTys>()] = rule), ...);
  }

private:
  DenseMap<TypeID, BatchRule> rules;
};

void addElementBatchRules(BatchRules &rules);
void addTensorBatchRules(BatchRules &rules);
void addStructuredBatchRules(BatchRules &rules);
void addControlFlowBatchRules(BatchRules &rules);

/// Any structured op of linalg.
LogicalResult batchLinalg(Operation *op, BlockBatch &batch);
/// An op whose result has, at each index, what the op gives for the elements
/// of its operands at that index; scalars are alike at all.
LogicalResult batchElementwise(Operation *op, BlockBatch &batch);
bool isElementwise(Operation *op);
/// Any op without effects of its own, row by row.
LogicalResult batchByLoop(Operation *op, BlockBatch &batch);

} // namespace mlir::grad

#endif // GRADC_BATCH_BATCHRULES_H

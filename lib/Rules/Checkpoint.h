//===- Checkpoint.h - Checkpoint regions and their policies -----*- C++ -*-===//
//
// The policy of a `grad.checkpoint` names what is saved besides the values that
// the region reads: "nothing", "dots" (results of contractions and
// convolutions) or "everything", which makes the region as good as none.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_CHECKPOINT_H
#define GRADC_RULES_CHECKPOINT_H

#include "GradDialect.h"

namespace mlir::grad {

/// The number of last results of a checkpoint that are there to be saved.
unsigned getNumSaved(CheckpointOp op);

/// Makes what the policies save further results of the checkpoints below
/// `root`, and dissolves those that save everything. Fails, with an error, on
/// an unknown policy.
LogicalResult applyCheckpointPolicies(Operation *root);

/// Moves the ops of every checkpoint below `root` to where it stands.
void dissolveCheckpoints(Operation *root);

} // namespace mlir::grad

#endif // GRADC_RULES_CHECKPOINT_H

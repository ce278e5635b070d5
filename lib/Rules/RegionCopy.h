//===- RegionCopy.h - Derivatives of the ops in a region --------*- C++ -*-===//
//
// The adjoint of a region op cannot read what its regions computed: it copies
// their ops and runs reverse mode over the copies. Forward mode copies them
// too, into a region op that yields tangents beside the values. Whether a copy
// needs a derivative is known of the value that it stands for.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_REGIONCOPY_H
#define GRADC_RULES_REGIONCOPY_H

#include "Rules/BlockJvp.h"
#include "Rules/BlockVjp.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::grad {

class RegionCopy {
public:
  /// Clones the ops of `block` but its terminator at the insertion point of
  /// `builder`, with `arguments` for the arguments of the block.
  void clone(OpBuilder &builder, Block &block, ValueRange arguments);

  /// The copy of `original` in the block cloned last; values from outside stand
  /// for themselves.
  Value lookup(Value original) const {
    return mapping.lookupOrDefault(original);
  }
  SmallVector<Value> lookup(ValueRange originals) const;

  /// Lets `copy` stand for `original`.
  void setOriginal(Value copy, Value original) { originals[copy] = original; }
  /// What `copy` stands for, or null for any other value.
  Value getOriginal(Value copy) const { return originals.lookup(copy); }

  /// Reverse mode over the copies, for the rule that sees `outer`.
  BlockVjp startVjp(OpBuilder &builder, VjpBuilder &outer) const;

  /// Runs forward mode over the copies. `start` gives tangents to what stands
  /// for arguments; what the copies read from outside has those that `outer`
  /// knows. Adds the tangents of the operands of `terminator` that `active`
  /// lists to its operands, zeros where there are none.
  LogicalResult runJvp(Operation *terminator, ArrayRef<unsigned> active,
                       JvpBuilder &outer,
                       function_ref<void(BlockJvp &)> start) const;

  /// The copies, in program order.
  ArrayRef<Operation *> getOps() const { return ops; }

private:
  IRMapping mapping;
  DenseMap<Value, Value> originals;
  SmallVector<Operation *> ops;
};

/// Differentiates `ops`, written with the copies in `copy`, in place of an op
/// with `results`: they compute `values`, one for each, and read `inputs` from
/// outside.
LogicalResult runInPlace(const RegionCopy &copy, ArrayRef<Operation *> ops,
                         ValueRange results, ValueRange values,
                         const llvm::SetVector<Value> &inputs, VjpBuilder &vjp);

/// The values from outside that the regions of `op` read and that need a
/// cotangent.
llvm::SetVector<Value> getNeededCaptures(Operation *op, VjpBuilder &vjp);

/// Erases the assertions in `ops`, which others make as well.
void eraseAssertions(ArrayRef<Operation *> ops);

/// Replaces `op` by the first of `values` in what has been emitted so far. The
/// op stays, for the transform that walks over it, and is dead.
void supersede(Operation *op, ValueRange values);

/// Replaces `op` by `both`, whose results are those of `op` and then the
/// tangents of those in `active`.
void supersedeWithTangents(Operation *op, Operation *both,
                           ArrayRef<unsigned> active, JvpBuilder &jvp);

} // namespace mlir::grad

#endif // GRADC_RULES_REGIONCOPY_H

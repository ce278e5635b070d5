//===- ForAdjoint.h - Adjoint of scf.for ------------------------*- C++ -*-===//
//
// The adjoint of a loop is a loop over the same iterations, last one first. It
// carries the cotangents of what the loop carries and of what the body reads
// from outside. Its body computes an iteration again, from values that the
// loop itself saved on stacks, and runs reverse mode over it.
//
// Which values to save is decided when the body is there: only what it still
// reads, and where something smaller that was computed from it would do, the
// smaller one. A loop whose stacks would be big is first written as a loop over
// segments; its adjoint saves the state at the beginning of each and has the
// stacks of one segment at a time.
//
// Start reading at ForAdjoint::emit.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_FORADJOINT_H
#define GRADC_RULES_FORADJOINT_H

#include "Rules/RegionCopy.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::grad {

class ForAdjoint {
public:
  ForAdjoint(scf::ForOp loop, VjpBuilder &vjp)
      : loop(loop), vjp(vjp), b(vjp.builder()), loc(loop.getLoc()) {}

  LogicalResult emit();

private:
  void collectState();
  void passThrough(unsigned number);
  void buildTripCount();
  Value getIteration(OpBuilder &body);
  LogicalResult buildReverse();
  void narrowSaved();
  bool replaceBySmaller(Value saved);
  Value addPlaceholder(Value original);
  FailureOr<int64_t> getSavedBytes();
  LogicalResult emitInSegments();
  void saveInPrimal();
  void setCotangents();

  scf::ForOp loop;
  VjpBuilder &vjp;
  OpBuilder &b;
  Location loc;

  /// Carried values that get a cotangent, by number. What only the last
  /// iteration yields is among them.
  SmallVector<unsigned> active;
  /// Carried values that no iteration changes, by number.
  SmallVector<unsigned> invariant;
  /// Values from outside that get a cotangent.
  llvm::SetVector<Value> captures;

  /// The number of iterations, where it is known and as a value.
  std::optional<int64_t> staticTrips;
  Value trips;

  scf::ForOp reverse;
  RegionCopy copy;
  /// Stand for the values that the body of `reverse` has to get from stacks.
  llvm::SetVector<Value> placeholders;
};

} // namespace mlir::grad

#endif // GRADC_RULES_FORADJOINT_H

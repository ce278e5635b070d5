//===- BlockBatch.h - Batching over a block ---------------------*- C++ -*-===//
//
// The engine of `grad.vmap`. A value of the function is either the same for
// every row, and stays as it is, or it has a batched form: a tensor with the
// rows along a new leading dimension. Scalars have one too, a tensor of rank 1.
// The engine walks the ops of a block in order and runs the rule of each op
// that reads a batched value. A rule emits ops on batched forms in front of
// the op, which is erased when all is done.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_BATCH_BLOCKBATCH_H
#define GRADC_BATCH_BLOCKBATCH_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::grad {

class BlockBatch {
public:
  /// `explain` adds notes to errors.
  BlockBatch(OpBuilder &builder, int64_t size,
             std::function<void(Diagnostic &)> explain)
      : b(builder), size(size), explain(std::move(explain)) {}

  /// Batches the ops of `block` up to its terminator.
  LogicalResult run(Block &block);

  /// Refuses effects, assertions apart: rows would see those of other rows.
  LogicalResult checkEffects(Block &block) const;

  /// Erases what has been replaced. No rule may run afterwards.
  void finish();

  OpBuilder &builder() { return b; }
  int64_t getSize() const { return size; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  bool isBatched(Value value) const { return forms.contains(value); }
  bool anyBatched(ArrayRef<OpFoldResult> values) const;
  /// True when `op` or something in its regions reads a batched value.
  bool readsBatched(Operation *op) const;
  /// Batched values from outside that the regions of `op` read.
  SmallVector<Value> getBatchedCaptures(Operation *op) const;

  /// The batched form of `value`, or `value` if it is the same for every row.
  Value getFormOrSelf(Value value) const {
    Value form = forms.lookup(value);
    return form ? form : value;
  }
  /// The batched form of `value`; copies of it if it is the same for every
  /// row.
  Value getForm(Value value);
  void setForm(Value value, Value form) { forms[value] = form; }
  /// Gives `argument` a batched form: a new argument in front of it, which
  /// takes its place in the end.
  void batchArgument(BlockArgument argument);

  /// Ends the rule of `op`: `results` are the batched forms of its results.
  void replace(Operation *op, ValueRange results);
  /// The same for results that turn out the same for every row.
  void replaceUnbatched(Operation *op, ValueRange results);
  /// Leaves `op` to `finish`.
  void erase(Operation *op) { replacedOps.push_back(op); }

  //===--------------------------------------------------------------------===//
  // Types and shapes
  //===--------------------------------------------------------------------===//

  /// The type of the batched form of a value of type `row`, or null if it has
  /// none.
  Type getFormType(Type row) const;
  /// The sizes of one row of `value`.
  SmallVector<OpFoldResult> getRowSizes(Value value);
  /// `row`, a list of sizes, offsets or strides, with `batch` in front.
  SmallVector<OpFoldResult> prepend(int64_t batch, ArrayRef<OpFoldResult> row) {
    SmallVector<OpFoldResult> list{b.getIndexAttr(batch)};
    llvm::append_range(list, row);
    return list;
  }

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  /// Uninitialised rows of type `row`. `sizes` are needed for dynamic shapes.
  Value empty(Location loc, Type row, ArrayRef<OpFoldResult> sizes = {});

  /// A value that a loop nest reads, with the map from the batch index and the
  /// indices of an element to the position that is read.
  struct Input {
    Value value;
    AffineMap map;
  };
  using BodyBuilder = function_ref<Value(OpBuilder &, Location, ValueRange)>;

  /// Rows of type `row` whose elements are what `body` returns for them.
  Value build(Location loc, Type row, ArrayRef<OpFoldResult> sizes,
              ArrayRef<Input> inputs, BodyBuilder body);

  /// How `build` for rows of rank `rank` reads `value` elementwise; a scalar is
  /// read for each element.
  Input getInput(Value value, unsigned rank);

  /// Row number `row` of the batched form of `value`, at `builder`.
  Value extractRow(OpBuilder &builder, Location loc, Value value, Value row);

  /// The error that `op` cannot be batched, to be ended with the reason.
  InFlightDiagnostic emitError(Operation *op) const;
  LogicalResult refuseShape(Operation *op) const {
    return emitError(op) << "its rows may differ in shape";
  }

private:
  Value broadcast(Value value);

  OpBuilder &b;
  int64_t size;
  std::function<void(Diagnostic &)> explain;
  DenseMap<Value, Value> forms;
  /// Batched forms of values that are the same for every row.
  DenseMap<Value, Value> copies;
  SmallVector<Operation *> replacedOps;
  SmallVector<BlockArgument> replacedArguments;
};

} // namespace mlir::grad

#endif // GRADC_BATCH_BLOCKBATCH_H

//===- Reduction.cpp - How a structured op combines its points ------------===//

#include "Rules/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::grad;

bool mlir::grad::isParallel(linalg::LinalgOp op) {
  return op.getNumParallelLoops() == op.getNumLoops();
}

Value mlir::grad::getOutArgument(linalg::LinalgOp op, unsigned number) {
  Block *body = op.getBlock();
  unsigned argument = op.getNumDpsInputs() + number;
  return argument < body->getNumArguments() ? body->getArgument(argument)
                                            : Value();
}

/// True when `value` depends on `source` inside the body.
static bool dependsOn(Value value, Value source) {
  if (value == source)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != source.getParentBlock())
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return dependsOn(operand, source);
  });
}

/// True when the derivative of `value` by `out` is one whatever the operands:
/// `out` passes through additions and choices between such sums only.
static bool isAdditive(Value value, Value out) {
  if (value == out)
    return true;
  if (auto add = value.getDefiningOp<arith::AddFOp>()) {
    bool left = dependsOn(add.getLhs(), out);
    bool right = dependsOn(add.getRhs(), out);
    return left != right && isAdditive(left ? add.getLhs() : add.getRhs(), out);
  }
  if (auto sub = value.getDefiningOp<arith::SubFOp>())
    return !dependsOn(sub.getRhs(), out) && isAdditive(sub.getLhs(), out);
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return !dependsOn(select.getCondition(), out) &&
           isAdditive(select.getTrueValue(), out) &&
           isAdditive(select.getFalseValue(), out);
  return false;
}

/// The operand of a maximum or minimum of `out` and something else, or null.
static Value matchExtremum(Value value, Value out) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  Value x, y;
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp>(op)) {
    x = op->getOperand(0);
    y = op->getOperand(1);
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    x = select.getTrueValue();
    y = select.getFalseValue();
    // The condition has to compare, directly or through a test for NaN; a
    // choice on something else is no extremum.
    if (!dependsOn(select.getCondition(), out))
      return {};
  } else {
    return {};
  }
  if (x == out)
    return dependsOn(y, out) ? Value() : y;
  if (y == out)
    return dependsOn(x, out) ? Value() : x;
  return {};
}

/// Finds the result that holds the position of the winner of result `number`.
static bool matchPosition(linalg::LinalgOp op, unsigned number, Value out,
                          Combination &combination) {
  auto yield = op.getBlock()->getTerminator();
  for (auto [other, value] : llvm::enumerate(yield->getOperands())) {
    Value otherOut = getOutArgument(op, other);
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (other == number || !otherOut || !select ||
        !value.getType().isIntOrIndex() ||
        !dependsOn(select.getCondition(), out))
      continue;
    Value position;
    if (select.getFalseValue() == otherOut)
      position = select.getTrueValue();
    else if (select.getTrueValue() == otherOut)
      position = select.getFalseValue();
    if (!position || dependsOn(position, otherOut))
      continue;
    combination.kind = Combination::Kind::Pick;
    combination.position = position;
    combination.positionResult = other;
    return true;
  }
  return false;
}

/// True when no two points of the nest write the same element of result
/// `number`. Iterators do not tell: the verifier accepts parallel ones over
/// positions that overlap.
static bool writesOnce(linalg::LinalgOp op, unsigned number) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (ranges[dim] != 1 &&
        !llvm::is_contained(map.getResults(),
                            getAffineDimExpr(dim, op.getContext())))
      return false;
  return true;
}

FailureOr<Combination> mlir::grad::classifyCombination(linalg::LinalgOp op,
                                                       unsigned number) {
  Combination combination;
  Value out = getOutArgument(op, number);
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  combination.term = yielded;
  if (!out || out.use_empty() || !dependsOn(yielded, out)) {
    if (writesOnce(op, number))
      return combination;
    return op->emitOpError("has no derivative rule: elements of result ")
           << number << " are written more than once";
  }
  if (isAdditive(yielded, out)) {
    combination.kind = Combination::Kind::Sum;
    return combination;
  }
  if (isParallel(op) && writesOnce(op, number))
    return combination;
  if (Value term = matchExtremum(yielded, out)) {
    combination.kind = Combination::Kind::Extremum;
    combination.term = term;
    matchPosition(op, number, out, combination);
    return combination;
  }
  InFlightDiagnostic diag =
      op->emitOpError("has no derivative rule for a reduction of this kind");
  diag.attachNote(yielded.getLoc())
      << "result " << number << " is neither a sum nor a maximum or minimum "
      << "of the values that the loops visit";
  return diag;
}

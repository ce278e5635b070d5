//===- Reduction.cpp - How a structured op combines its points ------------===//

#include "Rules/Reduction.h"

#include "GradDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "llvm/ADT/SmallBitVector.h"

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
  SmallVector<Value> pending = {value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (next == source)
      return true;
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != source.getParentBlock() ||
        !seen.insert(next).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(pending, inner->getOperands());
    });
  }
  return false;
}

/// True when the derivative of `value` by `out` is one whatever the operands:
/// `out` passes through additions and choices between such sums only.
static bool isAdditive(Value value, Value out) {
  if (value == out)
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::AddFOp, complex::AddOp>(op)) {
    bool left = dependsOn(op->getOperand(0), out);
    bool right = dependsOn(op->getOperand(1), out);
    return left != right && isAdditive(op->getOperand(left ? 0 : 1), out);
  }
  if (isa_and_present<arith::SubFOp, complex::SubOp>(op))
    return !dependsOn(op->getOperand(1), out) &&
           isAdditive(op->getOperand(0), out);
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return !dependsOn(select.getCondition(), out) &&
           isAdditive(select.getTrueValue(), out) &&
           isAdditive(select.getFalseValue(), out);
  return false;
}

/// True when `value` is a multiple of `out`: `out` passes through products and
/// choices between such products only.
static bool isMultiplicative(Value value, Value out) {
  if (value == out)
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::MulFOp>(op)) {
    bool left = dependsOn(op->getOperand(0), out);
    bool right = dependsOn(op->getOperand(1), out);
    return left != right && isMultiplicative(op->getOperand(left ? 0 : 1), out);
  }
  if (isa_and_present<arith::DivFOp>(op))
    return !dependsOn(op->getOperand(1), out) &&
           isMultiplicative(op->getOperand(0), out);
  if (isa_and_present<arith::NegFOp>(op))
    return isMultiplicative(op->getOperand(0), out);
  if (isa_and_present<arith::SelectOp>(op))
    return !dependsOn(op->getOperand(0), out) &&
           isMultiplicative(op->getOperand(1), out) &&
           isMultiplicative(op->getOperand(2), out);
  return false;
}

/// True when `condition` says which of `x` and `y` is the larger one: a
/// comparison, or several of them and tests for NaN.
static bool isComparison(Value condition, Value x, Value y) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<arith::OrIOp, arith::AndIOp>(op))
    return isComparison(op->getOperand(0), x, y) &&
           isComparison(op->getOperand(1), x, y);
  auto compare = dyn_cast_if_present<arith::CmpFOp>(op);
  if (!compare)
    return false;
  Value left = compare.getLhs(), right = compare.getRhs();
  if ((left != x && left != y) || (right != x && right != y))
    return false;
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  if (left == right || predicate == P::ORD || predicate == P::UNO)
    return true;
  return llvm::is_contained(
      {P::OGT, P::OGE, P::OLT, P::OLE, P::UGT, P::UGE, P::ULT, P::ULE},
      predicate);
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
    // A choice by anything but the larger or smaller value is no extremum.
    if (!isComparison(select.getCondition(), x, y))
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

/// True when the nest writes each element of result `number` at one point.
/// Iterators do not tell: the verifier accepts parallel ones over positions
/// that overlap, or that leave elements out, as a diagonal does.
static bool writesOnce(linalg::LinalgOp op, unsigned number) {
  OpOperand *init = op.getDpsInitOperand(number);
  AffineMap map = op.getMatchingIndexingMap(init);
  llvm::SmallBitVector seen(op.getNumLoops());
  for (auto [expr, size] :
       llvm::zip(map.getResults(),
                 cast<ShapedType>(init->get().getType()).getShape())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (seen.test(dim.getPosition()))
        return false;
      seen.set(dim.getPosition());
    } else if (!isa<AffineConstantExpr>(expr) || size != 1) {
      return false;
    }
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (ranges[dim] != 1 && !seen.test(dim))
      return false;
  return true;
}

/// The number of a result whose old elements another result is computed from.
static std::optional<unsigned> findReadByOther(linalg::LinalgOp op) {
  Operation *yield = op.getBlock()->getTerminator();
  for (unsigned read = 0, e = yield->getNumOperands(); read < e; ++read) {
    Value out = getOutArgument(op, read);
    if (!out || !isDifferentiableType(out.getType()))
      continue;
    for (unsigned number = 0; number < e; ++number) {
      Value value = yield->getOperand(number);
      if (number != read && isDifferentiableType(value.getType()) &&
          dependsOn(value, out))
        return read;
    }
  }
  return std::nullopt;
}

FailureOr<Combination> mlir::grad::classifyCombination(linalg::LinalgOp op,
                                                       unsigned number) {
  Combination combination;
  Value out = getOutArgument(op, number);
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  combination.term = yielded;
  if (std::optional<unsigned> read = findReadByOther(op)) {
    // Where no element is written twice, old elements are operands like any
    // other; elsewhere they are intermediate values that nobody has kept.
    bool once = isParallel(op);
    for (unsigned other = 0, e = op.getNumDpsInits(); other < e; ++other)
      once = once && writesOnce(op, other);
    if (once)
      return combination;
    return op->emitOpError("has no derivative rule: the running value of "
                           "result ")
           << *read << " is used for another result";
  }
  if (!out || out.use_empty() || !dependsOn(yielded, out)) {
    if (writesOnce(op, number))
      return combination;
    return op->emitOpError("has no derivative rule: it does not write each "
                           "element of result ")
           << number << " once";
  }
  if (isAdditive(yielded, out)) {
    combination.kind = Combination::Kind::Sum;
    return combination;
  }
  if (isParallel(op) && writesOnce(op, number))
    return combination;
  if (isMultiplicative(yielded, out)) {
    combination.kind = Combination::Kind::Product;
    return combination;
  }
  if (Value term = matchExtremum(yielded, out)) {
    combination.kind = Combination::Kind::Extremum;
    combination.term = term;
    matchPosition(op, number, out, combination);
    return combination;
  }
  InFlightDiagnostic diag =
      op->emitOpError("has no derivative rule for a reduction of this kind");
  diag.attachNote(yielded.getLoc())
      << "result " << number << " is neither a sum, a product, a maximum nor a "
      << "minimum of the values that the loops visit";
  return diag;
}

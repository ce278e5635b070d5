//===- StructuredDerivative.cpp - What both modes do to a body ------------===//

#include "Rules/StructuredDerivative.h"

#include "Rules/PruneInputs.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::grad;

LogicalResult StructuredDerivative::addOutput(unsigned number,
                                              Value cotangent) {
  FailureOr<Combination> combination = classifyCombination(op, number);
  if (failed(combination))
    return failure();
  if (combination->kind == Combination::Kind::Product) {
    products.push_back(number);
    return success();
  }
  Output output{number, *combination, cotangent, {}};
  if (combination->kind == Combination::Kind::Extremum)
    output.count = countTies(output);
  outputs.push_back(output);
  return success();
}

Value StructuredDerivative::countTies(const Output &output) {
  Value result = op->getResult(output.number);
  Value none =
      zerosLike(b, loc, result,
                getAccumulatorType(getElementTypeOrSelf(result.getType())));
  AffineMap map = getOutputMap(output.number);
  auto [values, maps] = getInputs({{result, map}});
  maps.push_back(map);
  unsigned resultAt = op->getNumOperands();
  auto count = linalg::GenericOp::create(
      b, loc, none.getType(), values, none, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        cloneBody(body, args, mapping);
        Value sum = args.back();
        Value term = mapping.lookupOrDefault(output.combination.term);
        Value tie = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OEQ,
                                          term, args[resultAt]);
        Value one = arith::UIToFPOp::create(body, loc, sum.getType(), tie);
        linalg::YieldOp::create(body, loc, addInto(body, loc, sum, one));
      });
  return pruneInputs(b, count).getResult(0);
}

std::pair<SmallVector<Value>, SmallVector<AffineMap>>
StructuredDerivative::getInputs(ArrayRef<Input> extra) {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  auto add = [&](Value value, AffineMap map) {
    values.push_back(value);
    maps.push_back(map);
  };
  for (OpOperand &operand : op->getOpOperands())
    add(operand.get(), op.getMatchingIndexingMap(&operand));
  for (const Input &input : extra)
    add(input.value, input.map);
  for (const Output &output : outputs) {
    AffineMap map = getOutputMap(output.number);
    add(op->getResult(output.number), map);
    if (output.cotangent)
      add(output.cotangent, map);
    if (output.count)
      add(output.count, map);
    if (output.combination.kind == Combination::Kind::Pick) {
      unsigned position = output.combination.positionResult;
      add(op->getResult(position), getOutputMap(position));
    }
  }
  return {std::move(values), std::move(maps)};
}

SmallVector<Operation *> StructuredDerivative::cloneBody(OpBuilder &body,
                                                         ValueRange args,
                                                         IRMapping &mapping) {
  Block *block = op.getBlock();
  for (auto [from, to] : llvm::zip(block->getArguments(), args))
    mapping.map(from, to);
  SmallVector<Operation *> clones;
  for (Operation &inner : block->without_terminator()) {
    // The op itself has checked; its derivative runs only when it was right.
    if (isa<cf::AssertOp>(inner))
      continue;
    clones.push_back(body.clone(inner, mapping));
  }
  return clones;
}

StructuredDerivative::BoundOutput
StructuredDerivative::bind(const Output &output, ValueRange &args) {
  auto take = [&] {
    Value front = args.front();
    args = args.drop_front();
    return front;
  };
  BoundOutput bound;
  bound.result = take();
  if (output.cotangent)
    bound.cotangent = take();
  if (output.count)
    bound.count = take();
  if (output.combination.kind == Combination::Kind::Pick)
    bound.winner = take();
  return bound;
}

Value StructuredDerivative::weigh(OpBuilder &body, const Output &output,
                                  const BoundOutput &bound,
                                  const IRMapping &mapping, Value t) {
  Value term = mapping.lookupOrDefault(output.combination.term);
  switch (output.combination.kind) {
  case Combination::Kind::Write:
  case Combination::Kind::Sum:
    return t;
  case Combination::Kind::Product:
    llvm_unreachable("products are differentiated as trees");
  case Combination::Kind::Extremum: {
    // PyTorch scales a mask by 1 / count, NaN included. Apart from NaN the
    // count is zero only where the initial value wins, and no term gets
    // anything.
    Value tie = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OEQ,
                                      term, bound.result);
    Value mask = arith::UIToFPOp::create(body, loc, term.getType(), tie);
    Value share = arith::MulFOp::create(body, loc, t, mask);
    Type wide = bound.count.getType();
    Value isNumber = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::ORD,
                                           bound.result, bound.result);
    Value atLeastOne = arith::MaximumFOp::create(body, loc, bound.count,
                                                 filled(body, loc, wide, 1));
    Value count =
        arith::SelectOp::create(body, loc, isNumber, atLeastOne, bound.count);
    share = arith::DivFOp::create(
        body, loc, convertElements(body, loc, share, wide), count);
    return convertElements(body, loc, share, t.getType());
  }
  case Combination::Kind::Pick: {
    Value here = arith::CmpIOp::create(
        body, loc, arith::CmpIPredicate::eq,
        mapping.lookupOrDefault(output.combination.position), bound.winner);
    return arith::SelectOp::create(body, loc, here, t,
                                   zeros(body, loc, t.getType()));
  }
  }
  llvm_unreachable("unknown combination");
}

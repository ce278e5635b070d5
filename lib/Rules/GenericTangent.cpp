//===- GenericTangent.cpp - Tangent of a structured op --------------------===//

#include "Rules/GenericTangent.h"

#include "Rules/BlockJvp.h"
#include "Rules/Expansion.h"
#include "Rules/ProductTree.h"
#include "Rules/PruneInputs.h"
#include "Rules/TensorUtils.h"

using namespace mlir;
using namespace mlir::grad;

LogicalResult GenericTangent::emit() {
  for (OpOperand &operand : op->getOpOperands())
    if (Value tangent = jvp.tangent(operand.get())) {
      tangents.push_back({tangent, op.getMatchingIndexingMap(&operand)});
      tangentOperands.push_back(operand.getOperandNumber());
    }
  for (OpResult result : op->getResults())
    if (isDifferentiableType(result.getType()) &&
        failed(addOutput(result.getResultNumber(), {})))
      return failure();
  for (unsigned number : products) {
    ProductTree tree(op, number);
    if (failed(tree.build(b)) ||
        failed(emitJvpOfOps(tree.getOps(), op->getResult(number),
                            tree.getProduct(), jvp)))
      return failure();
  }
  for (const Output &output : outputs)
    if (failed(emitResult(output)))
      return failure();
  return success();
}

LogicalResult GenericTangent::emitResult(const Output &output) {
  OpOperand *init = op.getDpsInitOperand(output.number);
  Value initTangent = jvp.tangent(init->get());
  using Kind = Combination::Kind;
  Kind kind = output.combination.kind;
  if (initTangent && (kind == Kind::Extremum || kind == Kind::Pick))
    return op->emitOpError("has no derivative rule for the initial value of a "
                           "maximum or minimum");
  auto type = cast<RankedTensorType>(op->getResult(output.number).getType());
  Type element = kind == Kind::Write
                     ? type.getElementType()
                     : getAccumulatorType(type.getElementType());

  auto [values, maps] = getInputs(tangents);
  maps.push_back(getOutputMap(output.number));
  Value sum;
  if (kind == Kind::Sum && initTangent)
    sum = convertElements(b, loc, initTangent, element);
  else
    sum = kind == Kind::Write ? emptyLike(b, loc, init->get(), element)
                              : zerosLike(b, loc, init->get(), element);

  bool failedInside = false, isZero = false;
  auto nest = linalg::GenericOp::create(
      b, loc, sum.getType(), values, sum, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange args) {
        IRMapping mapping;
        SmallVector<Operation *> clones = cloneBody(body, args, mapping);
        BlockJvp forward(body, &jvp);
        ValueRange rest = args.drop_front(op->getNumOperands());
        for (unsigned operand : tangentOperands) {
          // The tangent of a running sum is the running sum itself.
          bool running =
              kind == Kind::Sum && operand == init->getOperandNumber();
          if (!running)
            forward.setTangent(args[operand], rest.front());
          rest = rest.drop_front();
        }
        Value total = args.back();
        failedInside = failed(forward.run(clones));
        Value tangent =
            forward.tangent(mapping.lookupOrDefault(output.combination.term));
        isZero = !tangent;
        if (!failedInside && tangent) {
          for (const Output &other : outputs) {
            BoundOutput bound = bind(other, rest);
            if (other.number == output.number)
              tangent = weigh(body, output, bound, mapping, tangent);
          }
          tangent = convertElements(body, loc, tangent, total.getType());
          total = kind == Kind::Write ? tangent
                                      : addInto(body, loc, total, tangent);
        }
        linalg::YieldOp::create(body, loc, total);
      });
  if (failedInside || isZero) {
    nest.erase();
    if (failedInside)
      return failure();
    if (kind == Kind::Sum && initTangent)
      jvp.setTangent(op->getResult(output.number), initTangent);
    return success();
  }
  Value tangent = pruneInputs(b, nest).getResult(0);
  jvp.setTangent(op->getResult(output.number),
                 convertElements(b, loc, tangent, type));
  return success();
}

//===- GradTransformOps.cpp - Verification of vjp and jvp -----------------===//

#include "GradDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::grad;

/// Verifies `wrt` against the primals alone.
template <typename OpTy>
static LogicalResult verifyWrt(OpTy op) {
  llvm::SmallBitVector seen(op.getPrimals().size());
  for (int64_t index : op.getWrt()) {
    if (index < 0 || index >= static_cast<int64_t>(seen.size()))
      return op.emitOpError("wrt: argument ")
             << index << " does not exist, the callee has " << seen.size();
    if (seen.test(index))
      return op.emitOpError("wrt: argument ") << index << " is listed twice";
    seen.set(index);
    Type type = op.getPrimals()[index].getType();
    if (!isDifferentiableType(type))
      return op.emitOpError("wrt: argument ")
             << index << " of type " << type
             << " has no gradient: only floating-point and complex values do";
  }
  return success();
}

/// Verifies that `actual` are the types `expected`, up to the encoding.
static LogicalResult verifyTypes(Operation *op, StringRef what,
                                 ArrayRef<Type> expected, TypeRange actual) {
  if (expected.size() != actual.size())
    return op->emitOpError("expects ")
           << expected.size() << " " << what << "s, got " << actual.size();
  for (auto [index, want, got] : llvm::enumerate(expected, actual))
    if (!isSameButGradient(want, got))
      return op->emitOpError(what)
             << " " << index << " must have type " << want << ", got " << got;
  return success();
}

/// Verifies a transform against the signature of its callee. `seeds` are the
/// cotangents of a vjp and the tangents of a jvp.
template <typename OpTy>
static LogicalResult verifyCallee(OpTy op, SymbolTableCollection &symbolTable,
                                  OperandRange seeds, StringRef seedName,
                                  bool isReverse) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError("'")
           << op.getCallee() << "' does not name a function";

  SmallVector<Type> arguments(callee.getArgumentTypes());
  SmallVector<Type> results(callee.getResultTypes());
  if (failed(
          verifyTypes(op, "argument", arguments, op.getPrimals().getTypes())))
    return failure();

  SmallVector<Type> wrtTypes;
  for (int64_t index : op.getWrt())
    wrtTypes.push_back(arguments[index]);
  SmallVector<Type> resultTypes =
      llvm::filter_to_vector(results, isDifferentiableType);
  ArrayRef<Type> seedTypes = isReverse ? resultTypes : wrtTypes;
  if (failed(verifyTypes(op, seedName, seedTypes, seeds.getTypes())))
    return failure();

  llvm::append_range(results, isReverse ? wrtTypes : resultTypes);
  return verifyTypes(op, "result", results, op->getResultTypes());
}

LogicalResult VjpOp::verify() { return verifyWrt(*this); }

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCallee(*this, symbolTable, getCotangents(), "cotangent",
                      /*isReverse=*/true);
}

LogicalResult JvpOp::verify() { return verifyWrt(*this); }

LogicalResult JvpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  return verifyCallee(*this, symbolTable, getTangents(), "tangent",
                      /*isReverse=*/false);
}

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

/// `type` of one row with the batch dimension in front.
static Type getBatchedType(Type type, int64_t size) {
  auto tensorType = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{size};
  llvm::append_range(shape, tensorType.getShape());
  return tensorType.clone(shape);
}

LogicalResult VmapOp::verify() {
  if (static_cast<int64_t>(getSize()) < 0)
    return emitOpError("size must not be negative");
  llvm::SmallBitVector seen(getArgs().size());
  for (int64_t index : getBatched()) {
    if (index < 0 || index >= static_cast<int64_t>(seen.size()))
      return emitOpError("batched: argument ")
             << index << " does not exist, the callee has " << seen.size();
    if (seen.test(index))
      return emitOpError("batched: argument ") << index << " is listed twice";
    seen.set(index);
  }
  return success();
}

LogicalResult VmapOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee)
    return emitOpError("'") << getCallee() << "' does not name a function";
  SmallVector<Type> arguments(callee.getArgumentTypes());
  SmallVector<Type> results(callee.getResultTypes());
  auto batch = [&](Type &type, StringRef what,
                   unsigned index) -> LogicalResult {
    if (!isa<RankedTensorType>(type)) {
      emitOpError(what) << " " << index << " of the callee, of type " << type
                        << ", cannot be batched";
      return failure();
    }
    type = getBatchedType(type, getSize());
    return success();
  };
  for (int64_t index : getBatched())
    if (index < static_cast<int64_t>(arguments.size()))
      if (failed(batch(arguments[index], "argument", index)))
        return failure();
  for (auto [index, type] : llvm::enumerate(results))
    if (failed(batch(type, "result", index)))
      return failure();
  if (failed(verifyTypes(*this, "argument", arguments, getArgs().getTypes())))
    return failure();
  return verifyTypes(*this, "result", results, getResultTypes());
}

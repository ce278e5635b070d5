//===- GradDialect.cpp - The grad dialect ---------------------------------===//
//
// The dialect, its attribute and what other dialects may ask of its types.
// The operations are in GradOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "GradDialect.h"
#include "GradScheduleOps.h"

#include "CustomRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::grad;

#include "GradDialect.cpp.inc"
#include "GradInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "GradAttrs.cpp.inc"

LogicalResult mlir::grad::emitNoDerivativeRule(
    Operation *op,
    llvm::function_ref<void(Operation *, Diagnostic &)> explain) {
  InFlightDiagnostic diag = op->emitOpError("has no derivative rule");
  if (explain)
    explain(op, *diag.getUnderlyingDiagnostic());
  diag.attachNote() << "stop the gradient in front of it, or give the op a "
                       "rule (DifferentiableOpInterface)";
  return diag;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool mlir::grad::isDifferentiableType(Type type) {
  if (isa<TensorType, VectorType>(type))
    type = cast<ShapedType>(type).getElementType();
  if (auto complexType = dyn_cast<ComplexType>(type))
    type = complexType.getElementType();
  return isa<FloatType>(type);
}

bool mlir::grad::hasRequiresGrad(Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  return tensorType &&
         isa_and_present<RequiresGradAttr>(tensorType.getEncoding());
}

bool mlir::grad::canHaveRequiresGrad(Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  return tensorType && isDifferentiableType(type) &&
         (!tensorType.getEncoding() || hasRequiresGrad(type));
}

Type mlir::grad::withRequiresGrad(Type type, bool requiresGrad) {
  if (requiresGrad ? !canHaveRequiresGrad(type) : !hasRequiresGrad(type))
    return type;
  auto tensorType = cast<RankedTensorType>(type);
  if (!requiresGrad)
    return tensorType.dropEncoding();
  return tensorType.cloneWithEncoding(RequiresGradAttr::get(type.getContext()));
}

bool mlir::grad::isSameButGradient(Type a, Type b) {
  return withRequiresGrad(a, false) == withRequiresGrad(b, false);
}

/// Accepts every shape and element type: upstream ops clone the type of an
/// operand for an `i1` result while parsing, and a refusal there aborts.
LogicalResult RequiresGradAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    function_ref<InFlightDiagnostic()> emitError) const {
  return success();
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

namespace {
/// Everything may be inlined: modes are regions and barriers are values, so
/// neither depends on the function around it.
struct GradInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void GradDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "GradAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "GradOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "GradScheduleOps.cpp.inc"
      >();
  addInterfaces<GradInlinerInterface>();
}

Operation *GradDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult GradDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kRequiresGradArg || name == kNameArg)
    return op->emitOpError("attribute '")
           << name << "' belongs on a function argument";
  if (name == kCustomJvpAttr || name == kCustomVjpAttr)
    return verifyCustomRule(op, attribute);
  return success();
}

LogicalResult GradDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned regionIndex,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kNameArg) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("argument ")
           << argIndex << ": '" << name << "' must be a string";
  }
  if (name != kRequiresGradArg)
    return success();
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("argument ")
           << argIndex << ": '" << name << "' must be a unit attribute";

  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || argIndex >= function.getNumArguments())
    return op->emitOpError("attribute '")
           << name << "' belongs on a function argument";
  Type type = function.getArgumentTypes()[argIndex];
  if (isDifferentiableType(type))
    return success();
  return op->emitOpError("argument ")
         << argIndex << " of type " << type
         << " cannot require a gradient: only floating-point and complex "
            "values can";
}

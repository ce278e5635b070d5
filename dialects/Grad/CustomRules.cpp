//===- CustomRules.cpp - Functions that bring their derivative ------------===//

#include "CustomRules.h"

#include "GradDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::grad;

CustomRule::CustomRule(Operation *function)
    : jvp(function->getAttrOfType<FlatSymbolRefAttr>(kCustomJvpAttr)) {
  if (auto pair = function->getAttrOfType<ArrayAttr>(kCustomVjpAttr)) {
    forward = cast<FlatSymbolRefAttr>(pair[0]);
    backward = cast<FlatSymbolRefAttr>(pair[1]);
  }
}

void CustomRule::remove(Operation *function) {
  function->removeAttr(kCustomJvpAttr);
  function->removeAttr(kCustomVjpAttr);
}

static FailureOr<FunctionOpInterface> lookup(Operation *op, StringRef attribute,
                                             FlatSymbolRefAttr name) {
  auto function =
      SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, name);
  if (!function)
    return op->emitOpError(attribute)
           << ": " << name << " does not name a function";
  if (CustomRule(function))
    return op->emitOpError(attribute)
           << ": " << name << " is a rule and cannot have one of its own";
  return function;
}

static FunctionType getType(FunctionOpInterface function) {
  return cast<FunctionType>(function.getFunctionType());
}

/// Verifies the type of `rule`. With `moreResults` it may return more than the
/// type says.
static LogicalResult verifyType(Operation *op, StringRef attribute,
                                FunctionOpInterface rule, FunctionType expected,
                                bool moreResults = false) {
  FunctionType actual = getType(rule);
  ArrayRef<Type> results = actual.getResults();
  if (moreResults)
    results = results.take_front(expected.getNumResults());
  if (llvm::equal(actual.getInputs(), expected.getInputs(),
                  isSameButGradient) &&
      llvm::equal(results, expected.getResults(), isSameButGradient))
    return success();
  InFlightDiagnostic diag = op->emitOpError(attribute)
                            << ": '"
                            << SymbolTable::getSymbolName(rule).getValue()
                            << "' has the wrong type";
  diag.attachNote(rule.getLoc())
      << "expected " << expected
      << (moreResults ? ", followed by residuals" : "") << ", got " << actual;
  return diag;
}

static LogicalResult verifyJvp(FunctionOpInterface function,
                               NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
  if (!symbol)
    return function.emitOpError(name) << " must be the symbol of a function";
  FailureOr<FunctionOpInterface> rule = lookup(function, name, symbol);
  if (failed(rule))
    return failure();
  FunctionType type = getType(function);
  SmallVector<Type> inputs(type.getInputs()), results(type.getResults());
  llvm::append_range(
      inputs, llvm::make_filter_range(type.getInputs(), isDifferentiableType));
  llvm::append_range(results, llvm::make_filter_range(type.getResults(),
                                                      isDifferentiableType));
  return verifyType(function, name, *rule,
                    FunctionType::get(function.getContext(), inputs, results));
}

static LogicalResult verifyVjp(FunctionOpInterface function,
                               NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto pair = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!pair || pair.size() != 2 || !isa<FlatSymbolRefAttr>(pair[0]) ||
      !isa<FlatSymbolRefAttr>(pair[1]))
    return function.emitOpError(name)
           << " must be the symbols of two functions, [@forward, @backward]";
  FailureOr<FunctionOpInterface> forward =
      lookup(function, name, cast<FlatSymbolRefAttr>(pair[0]));
  FailureOr<FunctionOpInterface> backward =
      lookup(function, name, cast<FlatSymbolRefAttr>(pair[1]));
  FunctionType type = getType(function);
  if (failed(forward) || failed(backward) ||
      failed(verifyType(function, name, *forward, type, /*moreResults=*/true)))
    return failure();
  SmallVector<Type> inputs(
      getType(*forward).getResults().drop_front(type.getNumResults()));
  llvm::append_range(
      inputs, llvm::make_filter_range(type.getResults(), isDifferentiableType));
  SmallVector<Type> gradients =
      llvm::filter_to_vector(type.getInputs(), isDifferentiableType);
  return verifyType(
      function, name, *backward,
      FunctionType::get(function.getContext(), inputs, gradients));
}

LogicalResult mlir::grad::verifyCustomRule(Operation *op,
                                           NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !isa<FunctionType>(function.getFunctionType()))
    return op->emitOpError("attribute '")
           << attribute.getName().getValue() << "' belongs on a function";
  return attribute.getName() == kCustomJvpAttr ? verifyJvp(function, attribute)
                                               : verifyVjp(function, attribute);
}

//===- Rules.h - The derivatives gradc knows --------------------*- C++ -*-===//
//
// A derivative for one more op is one entry in one of the files beside this
// one: ArithRules.cpp and MathRules.cpp hold elementwise ops, a line or two
// each; TensorRules.cpp holds data movement; LinalgRules.cpp holds the
// structured ops, which are differentiated through their scalar body;
// SCFRules.cpp holds control flow; FuncRules.cpp holds calls of functions that
// bring their derivative.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RULES_RULES_H
#define GRADC_RULES_RULES_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::grad {

/// Attaches every derivative rule, as a model of `DifferentiableOpInterface`,
/// to the ops of the dialects that get loaded.
void registerRules(DialectRegistry &registry);

void registerArithRules(DialectRegistry &registry);
void registerMathRules(DialectRegistry &registry);
void registerTensorRules(DialectRegistry &registry);
void registerLinalgRules(DialectRegistry &registry);
void registerSCFRules(DialectRegistry &registry);
void registerFuncRules(DialectRegistry &registry);
void registerCheckpointRules(DialectRegistry &registry);

} // namespace mlir::grad

#endif // GRADC_RULES_RULES_H

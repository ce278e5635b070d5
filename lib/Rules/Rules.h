//===- Rules.h - The derivatives gradc knows --------------------*- C++ -*-===//
//
// A derivative for one more op is one entry in one of the files beside this
// one: ArithRules.cpp, MathRules.cpp and ComplexRules.cpp hold elementwise ops,
// a line or two each; TensorRules.cpp holds data movement; LinalgRules.cpp
// holds the structured ops, which are differentiated through their scalar body;
// SCFRules.cpp holds control flow; FuncRules.cpp holds calls of functions that
// bring their derivative. Ops that are short for others are in
// TensorExpansions, LinalgExpansions and SCFExpansions.cpp, see Expansion.h.
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
void registerComplexRules(DialectRegistry &registry);
void registerTensorRules(DialectRegistry &registry);
void registerTensorExpansions(DialectRegistry &registry);
void registerLinalgRules(DialectRegistry &registry);
void registerLinalgExpansions(DialectRegistry &registry);
void registerSCFRules(DialectRegistry &registry);
void registerSCFExpansions(DialectRegistry &registry);
void registerFuncRules(DialectRegistry &registry);
void registerCheckpointRules(DialectRegistry &registry);

} // namespace mlir::grad

#endif // GRADC_RULES_RULES_H

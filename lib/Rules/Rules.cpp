//===- Rules.cpp - The derivatives gradc knows ----------------------------===//

#include "Rules/Rules.h"

void mlir::grad::registerRules(DialectRegistry &registry) {
  registerArithRules(registry);
  registerMathRules(registry);
  registerComplexRules(registry);
  registerTensorRules(registry);
  registerTensorExpansions(registry);
  registerLinalgRules(registry);
  registerLinalgExpansions(registry);
  registerSCFRules(registry);
  registerSCFExpansions(registry);
  registerFuncRules(registry);
  registerCheckpointRules(registry);
}

//===- Rules.cpp - The derivatives gradc knows ----------------------------===//

#include "Rules/Rules.h"

void mlir::grad::registerRules(DialectRegistry &registry) {
  registerArithRules(registry);
  registerMathRules(registry);
  registerTensorRules(registry);
  registerLinalgRules(registry);
  registerSCFRules(registry);
  registerFuncRules(registry);
  registerCheckpointRules(registry);
}

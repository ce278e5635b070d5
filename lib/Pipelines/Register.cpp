//===- Register.cpp - Everything of gradc, for a tool or a context --------===//

#include "Pipelines/Register.h"

#include "Differentiate/Passes.h"
#include "GradDialect.h"
#include "Lower/Passes.h"
#include "Pipelines/Pipelines.h"
#include "Rules/Rules.h"
#include "Simplify/Passes.h"

void mlir::grad::registerAll(DialectRegistry &registry) {
  registry.insert<GradDialect>();
  registerRules(registry);
}

void mlir::grad::registerAllPasses() {
  registerGradDifferentiatePasses();
  registerGradSimplifyPasses();
  registerGradLowerPasses();
  registerPipelines();
}

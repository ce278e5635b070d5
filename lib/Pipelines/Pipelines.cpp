//===- Pipelines.cpp - The stages, in order -------------------------------===//

#include "Pipelines/Pipelines.h"

#include "Differentiate/Passes.h"
#include "Lower/Passes.h"
#include "Simplify/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::grad;

static void addSimplification(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void mlir::grad::buildGradientPipeline(OpPassManager &manager) {
  manager.addPass(createDifferentiatePass());
  addSimplification(manager);
}

void mlir::grad::buildTapePipeline(OpPassManager &manager) {
  manager.addPass(createJointPass());
  buildGradientPipeline(manager);
  manager.addPass(createPartitionPass());
  addSimplification(manager);
}

void mlir::grad::buildCPUPipeline(OpPassManager &manager) {
  buildLowerCPUPipeline(manager);
}

void mlir::grad::registerPipelines() {
  PassPipelineRegistration<>(
      "grad-gradient", "expand every transform of the module and simplify",
      buildGradientPipeline);
  PassPipelineRegistration<>(
      "grad-tape",
      "forward and backward functions for every function with roots",
      buildTapePipeline);
  PassPipelineRegistration<>("grad-to-llvm-cpu",
                             "lower plain tensor code to the LLVM dialect",
                             buildCPUPipeline);
}

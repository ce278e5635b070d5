//===- Pipelines.cpp - The stages, in order -------------------------------===//

#include "Pipelines/Pipelines.h"

#include "Differentiate/Passes.h"
#include "Lower/Passes.h"
#include "Simplify/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::grad;

/// What is worth doing to derivative code whatever comes next. The calls that
/// expansion leaves are inlined first, so that the primal and the derivative
/// share what they both compute.
static void addSimplification(OpPassManager &manager) {
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  manager.addNestedPass<func::FuncOp>(createDropCarriesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createFoldZerosPass());
  manager.addNestedPass<func::FuncOp>(createGatherWindowsPass());
  manager.addPass(createCSEPass());
}

void mlir::grad::buildGradientPipeline(OpPassManager &manager) {
  manager.addPass(createDifferentiatePass());
  addSimplification(manager);
}

void mlir::grad::buildTapePipeline(OpPassManager &manager) {
  manager.addPass(createJointPass());
  manager.addPass(createDifferentiatePass());
  addSimplification(manager);
  manager.addPass(createPartitionPass());
  // Partition leaves on either side only what that side needs, but for the
  // constants it copied and what loops carry.
  manager.addNestedPass<func::FuncOp>(createDropCarriesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
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

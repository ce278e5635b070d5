//===- Pipeline.cpp - The CPU pipeline, in order --------------------------===//

#include "Lower/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::grad;

static void addTensorPasses(OpPassManager &manager) {
  manager.addPass(createStripPass());
  // Fusion and the arena see whole programs: one function an entry point.
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  manager.addPass(createCheckLowerablePass());
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createGuardIndicesPass());
  functions.addPass(createLowerScatterAddPass());
  functions.addPass(createGeneralizePass());
  functions.addPass(createWidenSumsPass());
  // After the widening, which makes elementwise ops on tensors.
  functions.addPass(createConvertElementwiseToLinalgPass());
  functions.addPass(createMaterializeWindowsPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createFuseElementwisePass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createDropAfterPass());
}

static void addBufferization(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createLoopDestinationsPass());
  manager.addPass(createBindBuffersPass());
  manager.addNestedPass<func::FuncOp>(createUnshareEmptyPass());
  manager.addNestedPass<func::FuncOp>(createCutUpdatesPass());
  // Results are computed in the caller's buffers where possible.
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

static void addBufferPasses(OpPassManager &manager) {
  manager.addPass(createContractToGemmPass());
  manager.addNestedPass<func::FuncOp>(createSplitReductionsPass());
  manager.addPass(createOutlineKernelsPass());
  manager.addNestedPass<func::FuncOp>(createLinalgToLoopsPass());
  manager.addPass(createParallelizeLoopsPass());
  // Once no linalg op is left whose body would have to change with its
  // operands.
  manager.addPass(createBoolToBytePass());
  manager.addPass(createPlanArenaPass());
}

static void addLLVMConversion(OpPassManager &manager) {
  // 16-bit arithmetic in f32, rounded after each op, as the frameworks do.
  math::MathExtendToSupportedTypesOptions mathTypes;
  mathTypes.extraTypeStrs = {"f64"};
  mathTypes.targetTypeStr = "f32";
  manager.addPass(math::createMathExtendToSupportedTypes(mathTypes));
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"bf16", "f16"};
  floats.targetTypeStr = "f32";
  manager.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  manager.addNestedPass<func::FuncOp>(createExpandMathPass());
  manager.addPass(createLowerMathPass());

  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createLowerAssertPass());
  manager.addPass(createConvertComplexToStandardPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  // Names that the runtime defines, not malloc.
  memory.useGenericFunctions = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  ConvertFuncToLLVMPassOptions functions;
  // Shapes are static: a buffer is a pointer.
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createEmitParallelCallsPass());
  manager.addPass(createEmitEntriesPass());
}

void grad::buildLowerCPUPipeline(OpPassManager &manager) {
  addTensorPasses(manager);
  addBufferization(manager);
  addBufferPasses(manager);
  addLLVMConversion(manager);
}

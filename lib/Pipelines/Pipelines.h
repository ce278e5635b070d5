//===- Pipelines.h - The stages, in order -----------------------*- C++ -*-===//
//
// The only place where passes are put in order. Every pipeline is a builder
// function and is registered under one name, which gradc-opt, C++ and Python
// use alike.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_PIPELINES_PIPELINES_H
#define GRADC_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::grad {

/// `--grad-gradient`: expands every transform in the module and simplifies
/// what comes out: inference, differentiation, simplification.
void buildGradientPipeline(OpPassManager &manager);

/// `--grad-tape`: gives every function with roots a forward function that
/// also returns residuals and a backward function that consumes them.
void buildTapePipeline(OpPassManager &manager);

/// `--grad-to-llvm-cpu`: lowers plain tensor code to the LLVM dialect.
void buildCPUPipeline(OpPassManager &manager);

void registerPipelines();

} // namespace mlir::grad

#endif // GRADC_PIPELINES_PIPELINES_H

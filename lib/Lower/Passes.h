//===- Passes.h - From tensors to machine code ------------------*- C++ -*-===//

#ifndef GRADC_LOWER_PASSES_H
#define GRADC_LOWER_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::grad {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Lower/Passes.h.inc"

/// Lowers func + linalg on tensors to the LLVM dialect for the CPU; registered
/// by lib/Pipelines as `--grad-to-llvm-cpu`. The order is explained in
/// CPU/Pipeline.cpp.
void buildLowerCPUPipeline(OpPassManager &manager);

/// Attributes of compiled functions.
inline constexpr llvm::StringLiteral kInputsAttr = "gradc.inputs";
inline constexpr llvm::StringLiteral kOutputsAttr = "gradc.outputs";
inline constexpr llvm::StringLiteral kArenaBytesAttr = "gradc.arena_bytes";

/// Of a loop with independent iterations: how many are worth a thread.
inline constexpr llvm::StringLiteral kGrainAttr = "gradc.grain";
/// Of a kernel on a range of such a loop: size of the loop, and grain.
inline constexpr llvm::StringLiteral kParallelAttr = "gradc.parallel";

/// Prefixes of the symbols of compiled functions.
inline constexpr llvm::StringLiteral kBodyPrefix = "gradc.body.";
inline constexpr llvm::StringLiteral kEntryPrefix = "gradc.entry.";
inline constexpr llvm::StringLiteral kKernelPrefix = "gradc.kernel.";

} // namespace mlir::grad

#endif // GRADC_LOWER_PASSES_H

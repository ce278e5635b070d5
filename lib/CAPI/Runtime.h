//===- Runtime.h - C API of compiled modules --------------------*- C++ -*-===//
//
// Strings handed out through `error` belong to the caller, who releases them
// with `free`. Everything else lives as long as its executable.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_CAPI_RUNTIME_H
#define GRADC_CAPI_RUNTIME_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GradcExecutable GradcExecutable;
typedef struct GradcFunction GradcFunction;

/// Dense row-major data: element type as MLIR writes it, and shape.
typedef struct GradcTensorType {
  const char *dtype;
  const int64_t *shape;
  intptr_t rank;
} GradcTensorType;

/// Uses the OpenBLAS at `path` for matrix products. Returns null or an error.
char *gradcLoadBlas(const char *path);

/// How many threads the calls of this thread may use from now on; 0 for as
/// many as there are CPUs.
void gradcSetThreadBudget(int64_t threads);

/// Compiles a module that `grad-to-llvm-cpu` lowered; null on error.
GradcExecutable *gradcExecutableCreate(MlirModule module, int optLevel,
                                       char **error);
void gradcExecutableDestroy(GradcExecutable *executable);

intptr_t gradcExecutableGetNumFunctions(GradcExecutable *executable);
GradcFunction *gradcExecutableGetFunction(GradcExecutable *executable,
                                          intptr_t index);

const char *gradcFunctionGetName(GradcFunction *function);
intptr_t gradcFunctionGetNumInputs(GradcFunction *function);
intptr_t gradcFunctionGetNumOutputs(GradcFunction *function);
GradcTensorType gradcFunctionGetInput(GradcFunction *function, intptr_t index);
GradcTensorType gradcFunctionGetOutput(GradcFunction *function, intptr_t index);
intptr_t gradcFunctionGetArenaBytes(GradcFunction *function);

/// Runs the function on the addresses of its inputs, then its outputs.
/// Returns false, with the message, when an assertion fails.
bool gradcFunctionCall(GradcFunction *function, const uintptr_t *pointers,
                       char **error);

#ifdef __cplusplus
}
#endif

#endif // GRADC_CAPI_RUNTIME_H

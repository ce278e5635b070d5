//===- Codegen.h - Machine code from LLVM bitcode ---------------*- C++ -*-===//
//
// The C interface of libgradc_codegen.so. The library links its own LLVM
// statically and exports these functions only: another LLVM in the process
// (torch-mlir, jax) cannot mix up its tables of library calls.
//
// Functions that can fail return null or a non-zero status and store a
// message, which the caller releases with `gradc_codegen_free_string`.
// Everything here may be called from several threads at once.
//
//===----------------------------------------------------------------------===//

#ifndef GRADC_RUNTIME_CODEGEN_H
#define GRADC_RUNTIME_CODEGEN_H

#include <stddef.h>

#define GRADC_EXPORT __attribute__((visibility("default")))

extern "C" {

/// Code of one module, ready to run in this process.
struct GradcCode;

/// Optimizes and compiles `bitcode` for the CPU that this process runs on.
/// `names` and `addresses` define the runtime symbols that the code calls;
/// whatever else it needs comes from the process (libm, libc).
GRADC_EXPORT GradcCode *gradc_codegen_compile(const char *bitcode, size_t size,
                                              int optLevel,
                                              const char *const *names,
                                              void *const *addresses,
                                              size_t numSymbols, char **error);

/// Address of a symbol of the code.
GRADC_EXPORT void *gradc_codegen_lookup(GradcCode *code, const char *name,
                                        char **error);

GRADC_EXPORT void gradc_codegen_free(GradcCode *code);

/// Compiles `bitcode` to a position-independent object file. An empty `cpu`
/// is the CPU of this process, with its features. The caller releases
/// `*object` with `gradc_codegen_free_string`.
GRADC_EXPORT int gradc_codegen_emit_object(const char *bitcode, size_t size,
                                           int optLevel, const char *cpu,
                                           const char *features, char **object,
                                           size_t *objectSize, char **error);

GRADC_EXPORT void gradc_codegen_free_string(char *text);
}

#endif // GRADC_RUNTIME_CODEGEN_H

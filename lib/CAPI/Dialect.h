//===- Dialect.h - C API of the grad dialect and its passes -----*- C++ -*-===//

#ifndef GRADC_CAPI_DIALECT_H
#define GRADC_CAPI_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Grad, grad);

/// Registers the dialect, the derivative rules and the interface models that
/// the pipelines need with `context`, and loads the dialect.
void gradcRegisterAll(MlirContext context);

/// Calls `callback` with the name of every op of the dialects loaded in
/// `context` that has a derivative rule.
void gradcForEachDifferentiableOp(MlirContext context,
                                  MlirStringCallback callback, void *userData);

/// Registers the passes and pipelines, once for the process.
void gradcRegisterPasses(void);

/// The encoding `#grad.requires_grad`.
bool gradcAttributeIsARequiresGrad(MlirAttribute attribute);
MlirAttribute gradcRequiresGradAttrGet(MlirContext context);

/// True for a tensor type with the encoding.
bool gradcTypeHasRequiresGrad(MlirType type);
/// `type` with or without the encoding; unchanged if it cannot have it.
MlirType gradcTypeWithRequiresGrad(MlirType type, bool requiresGrad);

#ifdef __cplusplus
}
#endif

#endif // GRADC_CAPI_DIALECT_H

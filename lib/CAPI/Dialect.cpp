//===- Dialect.cpp - C API of the grad dialect and its passes -------------===//

#include "CAPI/Dialect.h"

#include "GradDialect.h"
#include "Pipelines/Register.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;
using namespace mlir::grad;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Grad, grad, mlir::grad::GradDialect)

void gradcRegisterAll(MlirContext context) {
  DialectRegistry registry;
  registerAll(registry);
  unwrap(context)->appendDialectRegistry(registry);
  unwrap(context)->getOrLoadDialect<GradDialect>();
}

void gradcForEachDifferentiableOp(MlirContext context,
                                  MlirStringCallback callback, void *userData) {
  for (RegisteredOperationName name :
       unwrap(context)->getRegisteredOperations())
    if (name.hasInterface<DifferentiableOpInterface>())
      callback(wrap(name.getStringRef()), userData);
}

void gradcRegisterPasses(void) {
  static bool once = (registerAllPasses(), true);
  (void)once;
}

bool gradcAttributeIsARequiresGrad(MlirAttribute attribute) {
  return isa<RequiresGradAttr>(unwrap(attribute));
}

MlirAttribute gradcRequiresGradAttrGet(MlirContext context) {
  return wrap(RequiresGradAttr::get(unwrap(context)));
}

bool gradcTypeHasRequiresGrad(MlirType type) {
  return hasRequiresGrad(unwrap(type));
}

MlirType gradcTypeWithRequiresGrad(MlirType type, bool requiresGrad) {
  return wrap(withRequiresGrad(unwrap(type), requiresGrad));
}

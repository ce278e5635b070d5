//===- Module.cpp - The extension module of gradc -------------------------===//
//
// Compiled without -fno-rtti, which nanobind does not allow: everything of
// MLIR comes in through the C API.
//
//===----------------------------------------------------------------------===//

#include "CAPI/Dialect.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"

namespace nb = nanobind;

void bindRuntime(nb::module_ &module);

NB_MODULE(_gradc, module) {
  module.doc() = "Compiled parts of gradc.";
  // Compiled programs live in caches of the process and die with it.
  nb::set_leak_warnings(false);

  module.def("register_dialects", gradcRegisterAll, nb::arg("context"),
             "Registers the grad dialect and its derivative rules with a "
             "context of the mlir package.");
  module.def(
      "differentiable_ops",
      [](MlirContext context) {
        nb::list names;
        gradcForEachDifferentiableOp(
            context,
            [](MlirStringRef name, void *names) {
              static_cast<nb::list *>(names)->append(
                  nb::str(name.data, name.length));
            },
            &names);
        return names;
      },
      nb::arg("context"),
      "Names of the ops with a derivative rule, of the dialects loaded in a "
      "context.");
  module.def("register_passes", gradcRegisterPasses,
             "Registers the passes and pipelines, once for the process.");

  module.def("has_requires_grad", gradcTypeHasRequiresGrad, nb::arg("type"),
             "True for a tensor type with the encoding #grad.requires_grad.");
  module.def("with_requires_grad", gradcTypeWithRequiresGrad, nb::arg("type"),
             nb::arg("requires_grad") = true,
             "The type with or without the encoding; unchanged if it cannot "
             "have it.");

  mlir::python::nanobind_adaptors::mlir_attribute_subclass(
      module, "RequiresGradAttr", gradcAttributeIsARequiresGrad)
      .def_classmethod(
          "get",
          [](nb::object cls, MlirContext context) {
            return cls(gradcRequiresGradAttrGet(context));
          },
          nb::arg("cls"), nb::arg("context") = nb::none(),
          "The encoding #grad.requires_grad.");

  bindRuntime(module);
}

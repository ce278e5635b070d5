//===- GradDialect.td - The grad dialect -------------------*- tablegen -*-===//
//
// Umbrella of the dialect: attributes, interfaces and operations are in the
// files beside this one.
//
//===----------------------------------------------------------------------===//

#ifndef GRAD_DIALECT_TD
#define GRAD_DIALECT_TD

include "mlir/IR/OpBase.td"

def Grad_Dialect : Dialect {
  let name = "grad";
  let cppNamespace = "::mlir::grad";
  let summary = "Gradients as types, barriers and transforms";
  let description = [{
    The `grad` dialect says three things about a tensor program:

    * which values need a gradient: the tensor encoding
      `#grad.requires_grad`, as in `tensor<4xf32, #grad.requires_grad>`;
    * where a gradient stops: `grad.stop_gradient` and its relatives, ops that
      no pass loses;
    * what is differentiated: `grad.vjp` and `grad.jvp`, transforms of a
      function that `--grad-differentiate` expands.

    Types report, semantics decide. Passes from elsewhere do not know the
    encoding and may drop or duplicate it, so no transform trusts it:
    `--grad-infer-requires-grad` derives every encoding again from the
    roots, and `--grad-check-requires-grad` compares the written types with
    what the ops say.

    Functions carry their roots and names as argument attributes:
    `grad.requires_grad` (unit) marks an argument that needs a gradient,
    `grad.name` (string) names it in messages.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["arith::ArithDialect", "tensor::TensorDialect"];
}

#endif // GRAD_DIALECT_TD

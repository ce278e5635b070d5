//===- Passes.td - From tensors to machine code ------------*- tablegen -*-===//

#ifndef GRADC_LOWER_PASSES_TD
#define GRADC_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def StripPass : Pass<"grad-strip", "::mlir::ModuleOp"> {
  let summary = "plain types and no barriers: gradients are done with";
  let description = [{
    Removes `#grad.requires_grad` from every type and erases
    `grad.stop_gradient`, `grad.promote`, `grad.leaf` and `grad.value_of`.
    A transform that is still there is an error.
  }];
}

#endif // GRADC_LOWER_PASSES_TD

//===- GradAttrs.td - Attributes of the grad dialect -------*- tablegen -*-===//

#ifndef GRAD_ATTRS_TD
#define GRAD_ATTRS_TD

include "GradDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

def Grad_RequiresGradAttr : AttrDef<Grad_Dialect, "RequiresGrad", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>
  ]> {
  let mnemonic = "requires_grad";
  let summary = "the tensor may carry a gradient at this level of differentiation";
  let description = [{
    A tensor encoding. A tensor without it is a constant for the current
    level of differentiation.

    ```mlir
    func.func @scale(%x: tensor<4xf32, #grad.requires_grad>, %k: tensor<4xf32>)
    ```

    Integer and boolean tensors never carry a gradient. The encoding's own
    verifier accepts them all the same, because upstream ops clone the type of
    an operand for an `i1` result while parsing; `--grad-check-requires-grad`
    is what refuses them.
  }];
}

#endif // GRAD_ATTRS_TD

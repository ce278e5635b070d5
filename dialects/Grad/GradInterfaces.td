//===- GradInterfaces.td - Interfaces of the grad dialect --*- tablegen -*-===//

#ifndef GRAD_INTERFACES_TD
#define GRAD_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::grad";
  let description = [{
    The derivative of an op. An op that neither implements this interface nor
    has a model attached is an error when a gradient would have to pass
    through it; it is never treated as constant.

    One implementation serves every user of the derivative: inference asks
    `carriesGradient`, reverse mode asks `emitVjp`, forward mode asks
    `emitJvp`. Ops that are elementwise get all three from one table entry, see
    `lib/Rules/Elementwise.h`.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns true when a gradient can flow from `operand` to `result`.
        Both are known to have a floating-point (or complex) element type.
        The safe default is true: saying yes where the derivative is zero
        costs time, saying no where it is not loses a gradient. A derivative
        that is identically zero (`math.floor`) still carries: the result is
        connected.
      }],
      "bool", "carriesGradient",
      (ins "::mlir::OpOperand &":$operand, "::mlir::OpResult":$result), "",
      /*defaultImplementation=*/[{ return true; }]>,
    InterfaceMethod<[{
        Emits the vector-Jacobian product. Reads `builder.cotangent(result)`
        (null is a symbolic zero) and calls `builder.accumulate(operand, ct)`
        for each operand for which `builder.needs(operand)` holds; no op may be
        created for any other operand. What it emits has to be
        differentiable itself. On failure, emits an error on the op.
      }],
      "::llvm::LogicalResult", "emitVjp",
      (ins "::mlir::grad::VjpBuilder &":$builder), "",
      /*defaultImplementation=*/[{
        return $_op->emitOpError("has no reverse-mode derivative rule");
      }]>,
    InterfaceMethod<[{
        Emits the Jacobian-vector product. Reads `builder.tangent(operand)`
        (null is a symbolic zero) and calls `builder.setTangent(result, t)`.
        A result that is not set has a zero tangent.
      }],
      "::llvm::LogicalResult", "emitJvp",
      (ins "::mlir::grad::JvpBuilder &":$builder), "",
      /*defaultImplementation=*/[{
        return $_op->emitOpError("has no forward-mode derivative rule");
      }]>
  ];
}

#endif // GRAD_INTERFACES_TD

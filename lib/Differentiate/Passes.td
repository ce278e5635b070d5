//===- Passes.td - Inference and differentiation -----------*- tablegen -*-===//

#ifndef GRADC_DIFFERENTIATE_PASSES_TD
#define GRADC_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferRequiresGradPass : Pass<"grad-infer-requires-grad", "::mlir::ModuleOp"> {
  let summary = "write into the types which tensors require a gradient";
  let description = [{
    Erases every `#grad.requires_grad` and derives them again from the roots:
    arguments with the attribute `grad.requires_grad`, arguments of public
    functions whose type carries the encoding, and, for the callee of a
    transform, the arguments that the transform differentiates. Inserts
    `grad.promote` where an op wants equal types. Functions called with
    different roots are cloned, one clone a set of roots. Idempotent.

    ```mlir
    // Before.
    func.func @f(%x: tensor<4xf32> {grad.requires_grad}, %k: tensor<4xf32>) -> tensor<4xf32>
    // After.
    func.func @f(%x: tensor<4xf32, #grad.requires_grad> {grad.requires_grad}, %k: tensor<4xf32>)
        -> tensor<4xf32, #grad.requires_grad>
    ```
  }];
  let dependentDialects = [
    "::mlir::grad::GradDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def CheckRequiresGradPass : Pass<"grad-check-requires-grad", "::mlir::ModuleOp"> {
  let summary = "compare the written requires_grad types with what the ops say";
  let description = [{
    Fails with one diagnostic for each value whose type claims a gradient that
    it can not have, or hides one that it has, with a note that shows the
    path. Does not share code with the pass that writes the types beyond the
    definition of which ops carry a gradient.
  }];
}

def ExplainPass : Pass<"grad-explain", "::mlir::ModuleOp"> {
  let summary = "say of every value why it requires a gradient or does not";
  let description = [{
    Emits a remark for each result of each op of the functions that have roots:
    whether it requires a gradient, with a shortest way from an argument, or
    what stops it; and on each barrier, the arguments whose path it cuts. A
    structured op is taken as a whole. The results that are differentiated are
    those listed in `grad.cotangents` of the function, or all.

    ```mlir
    // remark: requires grad: depends on argument 'w'
    %0 = math.exp %w : tensor<4xf32>
    // remark: does not require grad: stopped by 'grad.stop_gradient'
    // note: cuts the path of argument 'w'
    %1 = grad.stop_gradient %0 : tensor<4xf32> -> tensor<4xf32>
    ```

    With `attributes` the same is written into the attribute `grad.explain`:
    an array with one dictionary a result of an op, one dictionary for an
    argument of the function. Its keys are `requires_grad`, `needed` (it also
    reaches an output), `reason` ("root", "depends", "type", "stopped" or
    "constant"), and where they apply `root` and `roots` (the nearest argument
    and all arguments that it depends on), `path` (locations of the ops from
    there on) and `barrier` (the location of the op that stops the gradient).
    Barriers have the attribute `grad.cuts`: numbers of the arguments.
  }];
  let options = [
    Option<"attributes", "attributes", "bool", /*default=*/"false",
           "write attributes instead of remarks">
  ];
}

def LowerRegionsPass : Pass<"grad-lower-regions", "::mlir::ModuleOp"> {
  let summary = "turn no_grad and enable_grad regions into barriers";
  let description = [{
    Inlines every `grad.no_grad` and `grad.enable_grad` region. Ops directly
    under `no_grad` read their operands through `grad.stop_gradient`; values
    that only pass through are left alone. A call under `no_grad` is directed
    at a clone of its callee that is lowered under `no_grad`. Ops between
    `grad.enter_checkpoint` and `grad.leave_checkpoint` become a
    `grad.checkpoint`.
  }];
  let dependentDialects = ["::mlir::grad::GradDialect", "::mlir::scf::SCFDialect"];
}

def DifferentiatePass : Pass<"grad-differentiate", "::mlir::ModuleOp"> {
  let summary = "expand grad.vjp, grad.jvp and grad.vmap, innermost first";
  let description = [{
    Each transform becomes a call of a new private function that computes the
    results of the callee and their derivative, or the results for every row. Inference runs first, on a
    plain copy of the callee; types that were handed in are not trusted. An op
    without a derivative rule is an error when a gradient would have to pass
    through it, and no op is created for values that need no gradient.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numCreated", "created-ops", "ops created by derivative rules">
  ];
}

def JointPass : Pass<"grad-joint", "::mlir::ModuleOp"> {
  let summary = "give every function with roots a joint function to partition";
  let description = [{
    For a function `@f` with roots adds `@f.joint`, which takes the arguments of
    `@f` and a cotangent for each result that requires a gradient, and
    returns the results of `@f` and a gradient for each root that has a path to
    a result. The attributes `grad.cotangents` (result numbers of `@f`) and
    `grad.gradients` (argument numbers of `@f`) say which is which.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PartitionPass : Pass<"grad-partition", "::mlir::ModuleOp"> {
  let summary = "split a joint function into forward and backward functions";
  let description = [{
    Splits `@f.joint` at the ops that depend on a cotangent. `@f.forward`
    returns the results of `@f` followed by the residuals; `@f.backward` takes
    the residuals followed by the cotangents and returns the gradients. A
    residual that is an argument of `@f` is not returned by `@f.forward` but
    listed in `grad.residuals` of `@f.backward`, an array with one number for
    each residual argument: n >= 0 is argument n of `@f`, -1 - k is result
    number k of `@f.forward`.

    Which early values are saved and which are computed again in `@f.backward`
    is a minimum cut on bytes and work. Numbers are handed over as tensors of
    rank zero; a tensor whose size only code knows is computed again. An argument of `@f` with the attribute
    `grad.temporary` would not outlive the call, so saving it costs its bytes.
    The residual arguments of `@f.backward` have the location of the op that
    computes them, and the `grad.name` of the argument that they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // GRADC_DIFFERENTIATE_PASSES_TD

//===- GradOps.td - Operations of the grad dialect ---------*- tablegen -*-===//

#ifndef GRAD_OPS_TD
#define GRAD_OPS_TD

include "GradAttrs.td"
include "GradInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Grad_Op<string mnemonic, list<Trait> traits = []>
    : Op<Grad_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def Grad_StopGradientOp : Grad_Op<"stop_gradient", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface,
                                    ["carriesGradient", "emitVjp", "emitJvp"]>
  ]> {
  let summary = "the value of the operand, without its gradient";
  let description = [{
    The identity on the value. No gradient passes, in reverse or forward mode,
    at this or any enclosing level of differentiation. Takes any type.

    It is never folded because the type of its operand is plain: plain is a
    statement about one level, and the barrier belongs to all of them.

    ```mlir
    %c = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Grad_ValueOfOp : Grad_Op<"value_of", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface,
                                    ["carriesGradient", "emitVjp", "emitJvp"]>
  ]> {
  let summary = "the value of one operand with the gradient path of another";
  let description = [{
    The result equals `value`; its gradient goes to `gradient_path` unchanged
    and none goes to `value`. In-place updates under no_grad,
    straight-through estimators and gradient clipping are written with it.
    The arithmetic form `stop(a) + (b - stop(b))` gives NaN at infinities,
    this op does not.

    ```mlir
    %q = grad.value_of %rounded, %x : tensor<4xf32>, tensor<4xf32, #grad.requires_grad>
           -> tensor<4xf32, #grad.requires_grad>
    ```
  }];
  let arguments = (ins AnyType:$value, AnyType:$gradient_path);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value `,` $gradient_path attr-dict `:` type($value) `,`
    type($gradient_path) `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def Grad_LeafOp : Grad_Op<"leaf", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface,
                                    ["carriesGradient", "emitVjp", "emitJvp"]>
  ]> {
  let summary = "a fresh leaf: requires a gradient of its own, passes none on";
  let description = [{
    What `x.detach().requires_grad_()` makes: the value of the operand as a
    new root of inference. Values that depend on it require a gradient, and
    the gradient ends here.

    ```mlir
    %l = grad.leaf %x : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
    ```
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Grad_PromoteOp : Grad_Op<"promote", [
    Pure, DeclareOpInterfaceMethods<DifferentiableOpInterface,
                                    ["emitVjp", "emitJvp"]>
  ]> {
  let summary = "a constant tensor where a carrying one is expected";
  let description = [{
    A type conversion without effect on value or gradient: inference inserts
    it where an op wants operands of equal type and one of them is a
    constant.

    ```mlir
    %p = grad.promote %init : tensor<4xf32> -> tensor<4xf32, #grad.requires_grad>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

// The region runs exactly once; the interface tells dataflow analyses that what
// it yields are the results.
class Grad_RegionOp<string mnemonic, list<Trait> traits = []>
    : Grad_Op<mnemonic, !listconcat(traits, [
        SingleBlockImplicitTerminator<"::mlir::grad::YieldOp">,
        NoRegionArguments, RecursiveMemoryEffects,
        DeclareOpInterfaceMethods<RegionBranchOpInterface,
                                  ["getRegionInvocationBounds"]>
      ])> {
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
}

def Grad_NoGradOp : Grad_RegionOp<"no_grad"> {
  let summary = "ops inside read their operands without gradient";
  let description = [{
    Every op in the region reads stopped operands. A value that only passes
    through the region keeps its gradient, as a tensor that `dropout` returns
    untouched in eval mode does in PyTorch.

    ```mlir
    %m = grad.no_grad -> tensor<4xf32> {
      %t = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      grad.yield %t : tensor<4xf32>
    }
    ```
  }];
  let assemblyFormat = "(`->` type($results)^)? attr-dict-with-keyword $body";
}

def Grad_EnableGradOp : Grad_RegionOp<"enable_grad"> {
  let summary = "ops inside read their operands with gradient again";
  let description = [{
    Undoes an enclosing `grad.no_grad` for the ops in the region. Values
    computed under `no_grad` stay constants.

    ```mlir
    %m = grad.no_grad -> tensor<f32> {
      %n = grad.enable_grad -> tensor<f32> {
        %t = linalg.exp ins(%x : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
        grad.yield %t : tensor<f32>
      }
      grad.yield %n : tensor<f32>
    }
    ```
  }];
  let assemblyFormat = "(`->` type($results)^)? attr-dict-with-keyword $body";
}

def Grad_CheckpointOp : Grad_RegionOp<"checkpoint"> {
  let summary = "recompute the region in the backward pass instead of saving";
  let description = [{
    Values defined in the region are not residuals: the backward function
    computes them again from the values that the region reads. `policy`
    names what may be saved all the same; `"nothing"` is the default.

    ```mlir
    %y = grad.checkpoint -> tensor<4xf32> attributes {policy = "nothing"} {
      %t = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      grad.yield %t : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins DefaultValuedAttr<StrAttr, "\"nothing\"">:$policy);
  let assemblyFormat = "(`->` type($results)^)? attr-dict-with-keyword $body";
}

def Grad_YieldOp : Grad_Op<"yield", [
    Pure, ReturnLike, Terminator,
    ParentOneOf<["NoGradOp", "EnableGradOp", "CheckpointOp", "ScatterAddOp"]>
  ]> {
  let summary = "terminator of the regions of this dialect";
  let description = [{
    Returns the results of a region, or, in a `grad.scatter_add`, the indices
    followed by the value to add.

    ```mlir
    grad.yield %row, %value : index, f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

def Grad_VjpOp : Grad_Op<"vjp", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ]> {
  let summary = "results of a function and its vector-Jacobian product";
  let description = [{
    Calls `callee` on `primals` and pulls the `cotangents`, one for each
    result of the callee that has a floating-point element type, back to the
    arguments listed in `wrt`. The results are those of the callee followed
    by one gradient an entry of `wrt`, of the type of that argument. An
    argument with no path to a result gets zeros.

    The transform ignores the gradient mode around it and obeys the one inside
    the callee.

    ```mlir
    %loss, %dw = grad.vjp @loss(%x, %w) cotangents(%one) wrt [1]
        : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$primals,
                       Variadic<AnyType>:$cotangents,
                       DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $primals `)` `cotangents` `(` $cotangents `)` `wrt` $wrt
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Grad_JvpOp : Grad_Op<"jvp", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ]> {
  let summary = "results of a function and its Jacobian-vector product";
  let description = [{
    Calls `callee` on `primals` and pushes the `tangents`, one for each
    argument listed in `wrt`, forward. The results are those of the callee
    followed by one tangent for each result of the callee that has a
    floating-point element type.

    ```mlir
    %y, %dy = grad.jvp @f(%x) tangents(%t) wrt [0]
        : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$primals,
                       Variadic<AnyType>:$tangents,
                       DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $primals `)` `tangents` `(` $tangents `)` `wrt` $wrt
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Grad_VmapOp : Grad_Op<"vmap", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>
  ]> {
  let summary = "a function applied to every row of some of its arguments";
  let description = [{
    Calls `callee` once for each index of a leading dimension of length `size`
    that the arguments listed in `batched` have in addition; the other
    arguments are the same for every call. The results are those of the callee,
    each with that leading dimension. All arguments in `batched` and all
    results are tensors.

    A Jacobian is the `grad.vmap` of a function that contains a `grad.vjp` or a
    `grad.jvp`, over the rows of an identity matrix. Expansion is innermost
    first, as for the derivatives, and turns the callee into one function on
    batched values: a row costs no call.

    ```mlir
    %rows = grad.vmap @pullback(%x, %basis) batched [1] size 4
        : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       DenseI64ArrayAttr:$batched, I64Attr:$size);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `(` $args `)` `batched` $batched `size` $size
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def Grad_ScatterAddOp : Grad_Op<"scatter_add", [
    RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"::mlir::grad::YieldOp">,
    DeclareOpInterfaceMethods<DifferentiableOpInterface,
                              ["carriesGradient", "emitVjp", "emitJvp"]>
  ]> {
  let summary = "adds a value to a computed position, for each point of a loop nest";
  let description = [{
    The adjoint of a gather. The loop nest has one loop an entry of `bounds`.
    At each point the body receives the elements that the indexing maps select
    from `inputs`, may read `grad.loop_index`, and yields one index a dimension of
    `init` followed by the value to add there. Duplicate positions accumulate,
    in the order of the nest. Indices have to be in bounds: the gather that
    this is the adjoint of has checked them.

    ```mlir
    %r = grad.scatter_add bounds [8, 4] ins(%rows, %ct : tensor<8xi64>, tensor<8x4xf32>)
        maps [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
        into %zero : tensor<100x4xf32> {
    ^bb0(%row: i64, %value: f32):
      %i = arith.index_cast %row : i64 to index
      %j = grad.loop_index 1
      grad.yield %i, %j, %value : index, index, f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, AnyRankedTensor:$init,
                       AffineMapArrayAttr:$indexing_maps,
                       DenseI64ArrayAttr:$bounds);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `bounds` $bounds (`ins` `(` $inputs^ `:` type($inputs) `)`)? `maps`
    $indexing_maps `into` $init attr-dict `:`
    custom<SameType>(type($init), type($result)) $body
  }];
  let builders = [
    // Creates the entry block and its arguments too; the caller fills it.
    OpBuilder<(ins "ValueRange":$inputs, "Value":$init,
                   "ArrayRef<AffineMap>":$indexingMaps,
                   "ArrayRef<int64_t>":$bounds)>
  ];
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Grad_LoopIndexOp : Grad_Op<"loop_index", [
    Pure, ParentOneOf<["ScatterAddOp"]>
  ]> {
  let summary = "the iteration number of a loop of a grad.scatter_add";
  let description = [{
    ```mlir
    %j = grad.loop_index 1
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

#endif // GRAD_OPS_TD

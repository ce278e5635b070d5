//===- GradScheduleOps.td - When values are computed --------*- tablegen -*-===//
//
// Ops that the frontend and differentiation create; users write
// `grad.checkpoint`.
//
//===----------------------------------------------------------------------===//

#ifndef GRAD_SCHEDULE_OPS_TD
#define GRAD_SCHEDULE_OPS_TD

include "GradDialect.td"
include "GradInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Grad_AfterOp : Op<Grad_Dialect, "after", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface,
                              ["carriesGradient", "emitVjp", "emitJvp"]>
  ]> {
  let summary = "the value of the operand, not before others are there";
  let description = [{
    The identity on the value and its gradient. What reads the result comes
    after `awaited`, and is not the same as what reads the operand itself: CSE
    merges neither, and partition puts it on the side of what is awaited. The
    backward pass of a `grad.checkpoint` reads the inputs of the region
    through it, so that it computes the region again instead of keeping it.

    ```mlir
    %late = grad.after %x awaits %ct : tensor<4xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins AnyType:$input, Variadic<AnyType>:$awaited);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $input `awaits` $awaited attr-dict `:` type($input) `,` type($awaited)
  }];
}

def Grad_EnterCheckpointOp : Op<Grad_Dialect, "enter_checkpoint", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface,
                              ["emitVjp", "emitJvp"]>
  ]> {
  let summary = "an input of a checkpoint that is not a region yet";
  let description = [{
    The identity. A frontend that passes values through other compilers marks
    a `grad.checkpoint` by its inputs and results: what depends on an input,
    up to the results (`grad.leave_checkpoint`) of the same `id`, becomes the
    region before anything is differentiated.

    ```mlir
    %in = grad.enter_checkpoint %x id 0 policy "nothing" : tensor<4xf32>
    %y = math.exp %in : tensor<4xf32>
    %out = grad.leave_checkpoint %y id 0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, I64Attr:$id, StrAttr:$policy);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $input `id` $id `policy` $policy attr-dict `:` type($input)
  }];
}

def Grad_LeaveCheckpointOp : Op<Grad_Dialect, "leave_checkpoint", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface,
                              ["emitVjp", "emitJvp"]>
  ]> {
  let summary = "a result of a checkpoint that is not a region yet";
  let description = [{
    The identity; see `grad.enter_checkpoint`.

    ```mlir
    %out = grad.leave_checkpoint %y id 0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, I64Attr:$id);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input `id` $id attr-dict `:` type($input)";
}

#endif // GRAD_SCHEDULE_OPS_TD

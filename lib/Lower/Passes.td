//===- Passes.td - From tensors to machine code ------------*- tablegen -*-===//

#ifndef GRADC_LOWER_PASSES_TD
#define GRADC_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def StripPass : Pass<"grad-strip", "::mlir::ModuleOp"> {
  let summary = "plain types and no barriers: gradients are done with";
  let description = [{
    Removes `#grad.requires_grad` from every type, erases
    `grad.stop_gradient`, `grad.promote`, `grad.leaf` and `grad.value_of` and
    dissolves the regions of the dialect. A transform that is still there is
    an error.

    ```mlir
    %y = grad.stop_gradient %x : tensor<4xf32, #grad.requires_grad> -> tensor<4xf32>
    %z = linalg.exp ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %z = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// CPU, on tensors
//===----------------------------------------------------------------------===//

def CheckLowerablePass : Pass<"grad-check-lowerable", "::mlir::ModuleOp"> {
  let summary = "refuse what the CPU pipeline cannot compile, where it stands";
  let description = [{
    Public functions take and return ranked tensors of static shape, calls have
    been inlined, and every op is of a dialect that the pipeline lowers.
    Anything else is an error at the op: the passes that follow rely on it.
  }];
}

def GuardIndicesPass : Pass<"grad-guard-indices", "::mlir::func::FuncOp"> {
  let summary = "assert that reads at computed positions are in bounds";
  let description = [{
    A `tensor.extract` in the body of a `linalg.generic` reads where the data
    says, which may be anywhere. An index that is neither a loop index nor a
    constant, and that no assertion compares yet, gets an assertion.

    ```mlir
    // Before.
    %x = tensor.extract %table[%row] : tensor<5xf32>
    // After.
    %ok = arith.cmpi ult, %row, %c5 : index
    cf.assert %ok, "index out of range"
    %x = tensor.extract %table[%row] : tensor<5xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

def LowerScatterAddPass : Pass<"grad-lower-scatter-add", "::mlir::func::FuncOp"> {
  let summary = "grad.scatter_add as a loop nest over tensors";
  let description = [{
    The nest carries the result and inserts into it at each point, which
    bufferizes to an update in place. The order of additions is that of the
    op.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GeneralizePass : Pass<"grad-generalize", "::mlir::func::FuncOp"> {
  let summary = "every linalg op except linalg.fill as a linalg.generic";
  let description = [{
    The passes that follow see one form: they recognise contractions and
    convolutions by their maps and bodies, however they were written. Copies
    and concatenations take the same way.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def WidenSumsPass : Pass<"grad-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "sums accumulate in a wider type and round once";
  let description = [{
    A reduction of `bf16` or `f16` by addition gets an `f32` accumulator and a
    rounding at the end. A sum of products multiplies in `f32` too, which is
    exact. A reduction of `f32` that is no matrix product gets an `f64`
    accumulator.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def MaterializeWindowsPass : Pass<"grad-materialize-windows", "::mlir::func::FuncOp"> {
  let summary = "convolutions and their gradients as matrix products";
  let description = [{
    A sum of products one of whose three maps has terms such as
    `d2 * 2 + d5` reads, or writes, overlapping windows. The windows become a tensor
    of their own (im2col when they are read, col2im when they are written), and what
    is left is a contraction with permutations for maps, whatever the layout,
    stride, dilation or grouping. Only where each window element is used often
    enough to pay for the copy.
  }];
  let options = [
    Option<"minReuse", "min-reuse", "int64_t", /*default=*/"8",
           "least number of multiplications for each element copied">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FuseElementwisePass : Pass<"grad-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "elementwise ops and reductions over one domain as one op";
  let description = [{
    Groups the `linalg.generic` ops of a block that iterate over the same
    domain and exchange values point by point, and replaces each group by one
    generic with a result for each value that is used outside. One walk over
    the block; contractions stay on their own.
  }];
  let options = [
    Option<"maxBodyOps", "max-body-ops", "int64_t", /*default=*/"64",
           "most operations in the body of a fused op">,
    Option<"maxOperands", "max-operands", "int64_t", /*default=*/"24",
           "most operands of a fused op">,
  ];
  let statistics = [
    Statistic<"numFused", "fused", "ops that became part of a group">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LoopDestinationsPass : Pass<"grad-loop-destinations", "::mlir::func::FuncOp"> {
  let summary = "loops write what they carry into the buffer it came in";
  let description = [{
    A tensor that a loop yields is materialized in the loop argument that
    receives it, so that bufferization needs no fresh buffer in each iteration.
    An `scf.while` also carries a place for each tensor that it hands
    from one region to the other.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def BindBuffersPass : Pass<"grad-bind-buffers", "::mlir::ModuleOp"> {
  let summary = "public functions read and write the caller's buffers";
  let description = [{
    `@f` becomes `@gradc.body.f`, which takes one memref an argument and one a
    result. Arguments are read only; each result is materialized in its buffer,
    so results alias neither each other nor the arguments. The signature stays
    behind in `gradc.inputs` and `gradc.outputs`.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    // becomes
    func.func @gradc.body.f(%x: memref<4xf32>, %out: memref<4xf32>)
        attributes {gradc.inputs = [tensor<4xf32>], gradc.outputs = [tensor<4xf32>]}
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def DropAfterPass : Pass<"grad-drop-after", "::mlir::func::FuncOp"> {
  let summary = "leave the order of computations to the order of the ops";
  let description = [{
    Replaces `grad.after` by its operand. Until here it kept CSE from merging
    what a checkpoint computes again with what it computed first; on buffers,
    the order of the ops is the order in which memory is used.
  }];
}

def UnshareEmptyPass : Pass<"grad-unshare-empty", "::mlir::func::FuncOp"> {
  let summary = "one tensor.empty, and one linalg.fill, for each use";
  let description = [{
    CSE merges all `tensor.empty` of a type, and the analysis of
    one-shot-bufferize is superlinear in the uses of one value. It merges fills
    too, and then every use but one has to copy: filling is cheaper, and a
    contraction that has a zero fill of its own needs none.
    The same holds for the tensor of an argument, which nobody writes to.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CutUpdatesPass : Pass<"grad-cut-updates", "::mlir::func::FuncOp"> {
  let summary = "long chains of updates in pieces";
  let description = [{
    The analysis of one-shot-bufferize compares each read of a buffer with each
    write to it, for every write: a sum of thousands of terms that grows in one
    place takes it forever. Behind every `max-length` updates of a tensor that
    nobody else reads, the tensor goes through its buffer. What follows is about
    another tensor for the analysis, and the same memory.

    ```mlir
    %buffer = bufferization.to_buffer %sum : tensor<4xf32> to memref<4xf32>
    %rest = bufferization.to_tensor %buffer restrict writable : memref<4xf32> to tensor<4xf32>
    ```
  }];
  let options = [
    Option<"maxLength", "max-length", "unsigned", /*default=*/"16",
           "most updates of a tensor in a row">,
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

//===----------------------------------------------------------------------===//
// CPU, on buffers
//===----------------------------------------------------------------------===//

def ContractToGemmPass : Pass<"grad-contract-to-gemm", "::mlir::ModuleOp"> {
  let summary = "contractions call the runtime's matrix product";
  let description = [{
    A `linalg.generic` on buffers that is a sum of products with permutations
    for maps becomes `gradc_gemm_f32` or `gradc_gemm_f64`. Dimensions that
    collapse into rows, columns or the summed dimension do so; the others, and batch
    dimensions, become loops around the call. A zero fill just before
    it goes away: the product overwrites.
  }];
  let statistics = [
    Statistic<"numContractions", "contractions", "contractions that call BLAS">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def SplitReductionsPass : Pass<"grad-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "large reductions over blocks, which different threads compute";
  let description = [{
    A `linalg.generic` on buffers none of whose dimensions is in all its results, such
    as the sum of all elements, has no loop whose iterations are independent. One
    dimension is cut into blocks: each block reduces into a partial result of
    its own, and a second op combines those. Where the cuts are depends on
    shapes only, so a result does not depend on the number of threads.

    ```mlir
    %s = sum over i < 65536 of %x[i]
    // becomes
    %p[b] = sum over i < 1024 of %x[1024 * b + i]
    %s = sum over b < 64 of %p[b]
    ```
  }];
  let statistics = [
    Statistic<"numSplit", "split", "reductions cut into blocks">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

def OutlineKernelsPass : Pass<"grad-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "each linalg op on buffers as a function of its own";
  let description = [{
    Buffers of one function live in one arena, where LLVM cannot tell
    them apart. As arguments of a small function they are `llvm.noalias`, which
    is true whenever they have different allocations behind them. Equal kernels
    are emitted once.
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels after merging equal ones">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def LinalgToLoopsPass : Pass<"grad-linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "linalg on buffers as loops that LLVM vectorizes";
  let description = [{
    The innermost loop is one along which most operands are contiguous.
    Elements that it does not move over are carried in registers, and sums
    among them may be reassociated. Loops over contiguous buffers that are only read
    and written point by point collapse into one. A loop whose iterations are independent
    and worth several threads says so in `gradc.grain`: the number of iterations
    below which they are not.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect"];
}

def ParallelizeLoopsPass : Pass<"grad-parallelize-loops", "::mlir::ModuleOp"> {
  let summary = "kernels that compute a part of a loop";
  let description = [{
    A kernel with a loop that carries `gradc.grain` takes the bounds of that
    loop as its last two arguments; calls pass all of it. `gradc.parallel` says that a call
    may be divided: the size of the loop and its grain.

    ```mlir
    func.func private @gradc.kernel.0(%x: memref<?>, %begin: index, %end: index)
        attributes {gradc.parallel = array<i64: 1048576, 8192>}
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect"];
}

def BoolToBytePass : Pass<"grad-bool-to-byte", "::mlir::ModuleOp"> {
  let summary = "buffers of i1 as buffers of i8";
  let description = [{
    One byte a boolean is the layout of the frameworks, and LLVM has no
    addressable bits. A stored value is 0 or 1; any byte but 0 reads as true.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def PlanArenaPass : Pass<"grad-plan-arena", "::mlir::ModuleOp"> {
  let summary = "every buffer of static size at a fixed offset of one arena";
  let description = [{
    Functions made by `grad-bind-buffers` get one more argument, the arena, and
    `gradc.arena_bytes`. Buffers get offsets by their live intervals, counted in
    top-level operations and including aliases: best fit, 64-byte aligned.
    A buffer that is allocated in a loop lives as long as the loop. Buffers whose size is
    known only while the code runs come from the runtime and live until the call
    ends, or the region in which they are allocated if nothing outlives it.
  }];
  let statistics = [
    Statistic<"numBuffers", "buffers", "buffers placed in an arena">,
    Statistic<"arenaBytes", "bytes", "bytes of all arenas">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// CPU, to LLVM
//===----------------------------------------------------------------------===//

def ExpandMathPass : Pass<"grad-expand-math", "::mlir::func::FuncOp"> {
  let summary = "elementary functions as arithmetic that LLVM vectorizes";
  let description = [{
    A call of libm keeps a loop from being vectorized. The expansions are exact
    to 2 units in the last place and treat NaN, infinities, zeros and subnormal
    numbers as libm does: `exp`, `log` and `tanh` in f32 and f64, and in f32
    alone `erf`, `sin`, `cos`, `log1p`, `expm1` and `powf`. Long and negative
    integer powers become `powf`, short ones stay products.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def LowerMathPass : Pass<"grad-lower-math", "::mlir::ModuleOp"> {
  let summary = "math ops without an accurate LLVM intrinsic call libm";
  let description = [{
    LLVM's dialect conversion expands `math.log1p` and `math.expm1` into
    formulas that lose all digits near zero. Those and every function
    without an intrinsic become calls; the rest is left for
    `convert-math-to-llvm`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerAssertPass : Pass<"grad-lower-assert", "::mlir::ModuleOp"> {
  let summary = "a failed cf.assert ends the call, not the process";
  let description = [{
    The runtime's `gradc_rt_fail` takes the message and jumps back to the
    caller of the compiled function, who raises it as an error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

def EmitParallelCallsPass : Pass<"grad-emit-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "calls of parallel kernels through the thread pool";
  let description = [{
    A call of a kernel with `gradc.parallel` stores its arguments and hands
    them to the runtime's `gradc_parallel_for`, together with a function that loads them and
    calls the kernel on a range. The calls of a function share the memory for that.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmitEntriesPass : Pass<"grad-emit-entries", "::mlir::ModuleOp"> {
  let summary = "one entry point a public function, of one C signature";
  let description = [{
    `@gradc.entry.f` takes an array of data pointers (inputs, outputs, arena)
    and calls `@gradc.body.f`. It carries `gradc.inputs`, `gradc.outputs` and
    `gradc.arena_bytes`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // GRADC_LOWER_PASSES_TD

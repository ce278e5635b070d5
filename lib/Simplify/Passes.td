//===- Passes.td - Simplification of derivative code -------*- tablegen -*-===//

#ifndef GRADC_SIMPLIFY_PASSES_TD
#define GRADC_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def DropCarriesPass : Pass<"grad-drop-carries", "::mlir::func::FuncOp"> {
  let summary = "loops carry what somebody reads";
  let description = [{
    A value that a loop carries and that reaches neither a result in use nor an
    op with an effect is passed on unchanged, which canonicalization removes.
    The forward function of a tape has such values: what the loop saves for an
    adjoint that runs the loop again.

    ```mlir
    // Before: %r:2 = scf.for ... iter_args(%a = %x, %b = %y) { ... scf.yield %t, %u }
    // After, when %r#1 has no use and %t does not depend on %b:
    //         %r:2 = scf.for ... iter_args(%a = %x, %b = %y) { ... scf.yield %t, %b }
    ```
  }];
}

def FoldZerosPass : Pass<"grad-fold-zeros", "::mlir::func::FuncOp"> {
  let summary = "accumulate into what is there instead of into zeros";
  let description = [{
    A generic that adds into a tensor filled with zeros and whose iterators are
    all parallel writes its value directly; the fill goes.

    ```mlir
    // Before: %0 = generic outs(%zeros) { ^bb0(%x: f32, %out: f32): out + x }
    // After:  %0 = generic outs(%empty) { ^bb0(%x: f32, %out: f32): x }
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GatherWindowsPass : Pass<"grad-gather-windows", "::mlir::func::FuncOp"> {
  let summary = "turn sums into overlapping windows into sums over a window";
  let description = [{
    The adjoint of a convolution by its input adds products to overlapping
    positions, `dx[2 p + q] += ct[p] * w[q]`. This pass rewrites it as a
    convolution of the spread and padded cotangent with the reversed filter,
    which has parallel loops and compiles to matrix products.

    ```mlir
    // Before: out map (p, q) -> (p * 2 + q), every loop a reduction
    // After:  in map (x, q) -> (x + q) on the spread cotangent, x parallel
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // GRADC_SIMPLIFY_PASSES_TD

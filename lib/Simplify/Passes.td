//===- Passes.td - Simplification of derivative code -------*- tablegen -*-===//

#ifndef GRADC_SIMPLIFY_PASSES_TD
#define GRADC_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // GRADC_SIMPLIFY_PASSES_TD

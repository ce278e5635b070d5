//===- Passes.td - Simplification of derivative code -------*- tablegen -*-===//

#ifndef GRADC_SIMPLIFY_PASSES_TD
#define GRADC_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldZerosPass : Pass<"grad-fold-zeros", "::mlir::func::FuncOp"> {
  let summary = "accumulate into what is there instead of into zeros";
  let description = [{
    A generic that adds into a tensor filled with zeros and whose iterators are
    all parallel writes its value directly; the fill goes.
  }];
}

#endif // GRADC_SIMPLIFY_PASSES_TD

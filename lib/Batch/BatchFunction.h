//===- BatchFunction.h - Batching of a function -----------------*- C++ -*-===//

#ifndef GRADC_BATCH_BATCHFUNCTION_H
#define GRADC_BATCH_BATCHFUNCTION_H

#include "GradDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::grad {

/// Turns `func`, a body of one block in which only functions with a custom rule
/// are called, into the function that
/// `vmap` needs: the arguments that it lists, and all results, have rows.
LogicalResult batchFunction(func::FuncOp func, VmapOp vmap);

} // namespace mlir::grad

#endif // GRADC_BATCH_BATCHFUNCTION_H

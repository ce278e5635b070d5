//===- Work.h - What a loop nest costs ---------------------------*- C++
//-*-===//

#ifndef GRADC_LOWER_CPU_WORK_H
#define GRADC_LOWER_CPU_WORK_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::grad {

/// Nanoseconds that `op`, of static shape, takes on one core: a guess from the
/// ops of its body and the memory of its operands.
double estimateWork(linalg::LinalgOp op);

/// Nanoseconds that it takes to read or write all of a buffer.
double estimateTraffic(Type buffer);

/// Work in nanoseconds from which waking another thread pays, and how much of
/// it a thread takes at a time.
inline constexpr double kParallelWork = 50e3;
inline constexpr double kGrainWork = 20e3;

} // namespace mlir::grad

#endif // GRADC_LOWER_CPU_WORK_H

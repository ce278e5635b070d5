//===- RunMain.h - Compile a file and run one of its functions --*- C++ -*-===//

#ifndef GRADC_RUNTIME_RUNMAIN_H
#define GRADC_RUNTIME_RUNMAIN_H

namespace mlir::grad {

/// The main function of gradc-run.
int runMain(int argc, char **argv);

} // namespace mlir::grad

#endif // GRADC_RUNTIME_RUNMAIN_H

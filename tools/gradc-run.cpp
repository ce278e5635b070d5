//===- gradc-run.cpp - Compile a file and run one of its functions --------===//

#include "Runtime/RunMain.h"

int main(int argc, char **argv) { return mlir::grad::runMain(argc, argv); }

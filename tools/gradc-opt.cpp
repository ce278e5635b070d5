//===- gradc-opt.cpp - mlir-opt with the passes of gradc ------------------===//

#include "Pipelines/Register.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace mlir::grad::test {
void registerTestGradientAnalysis();
} // namespace mlir::grad::test

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::grad::registerAll(registry);
  mlir::grad::registerAllPasses();
  mlir::grad::test::registerTestGradientAnalysis();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "gradient compiler driver\n", registry));
}

//===- Executable.h - A lowered module, compiled and callable ---*- C++ -*-===//

#ifndef GRADC_RUNTIME_EXECUTABLE_H
#define GRADC_RUNTIME_EXECUTABLE_H

#include "Runtime/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

struct GradcCode;

namespace mlir::grad {

/// What crosses the boundary of a compiled function: dense row-major data.
struct TensorSignature {
  /// The element type as MLIR writes it: "f32", "bf16", "i64", "i1", ...
  std::string dtype;
  std::vector<int64_t> shape;
};

/// An entry point with its signature.
struct ExecutableFunction {
  std::string name;
  std::vector<TensorSignature> inputs, outputs;
  std::unique_ptr<gradc::CompiledFunction> code;
};

/// Machine code for the entry points of a module that
/// `--grad-to-llvm-cpu` lowered. Immutable once created, so that any number
/// of threads may call its functions.
class Executable {
public:
  /// Returns null and sets `error` when something goes wrong.
  static std::unique_ptr<Executable> create(ModuleOp module, int optLevel,
                                            std::string &error);
  ~Executable();

  /// The function called `name` in the program, or null.
  ExecutableFunction *find(StringRef name);
  std::vector<std::unique_ptr<ExecutableFunction>> &getFunctions() {
    return functions;
  }

private:
  Executable() = default;

  GradcCode *code = nullptr;
  std::vector<std::unique_ptr<ExecutableFunction>> functions;
};

} // namespace mlir::grad

#endif // GRADC_RUNTIME_EXECUTABLE_H

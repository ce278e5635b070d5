//===- Runtime.cpp - C API of compiled modules ----------------------------===//

#include "CAPI/Runtime.h"

#include "Runtime/Executable.h"
#include "Runtime/ThreadPool.h"
#include "mlir/CAPI/IR.h"
#include <cstring>

using namespace mlir;
using namespace mlir::grad;

static Executable *unwrap(GradcExecutable *executable) {
  return reinterpret_cast<Executable *>(executable);
}
static ExecutableFunction *unwrap(GradcFunction *function) {
  return reinterpret_cast<ExecutableFunction *>(function);
}

char *gradcLoadBlas(const char *path) {
  std::string error = gradc::loadBlas(path);
  return error.empty() ? nullptr : strdup(error.c_str());
}

void gradcSetThreadBudget(int64_t threads) { gradc::setThreadBudget(threads); }

GradcExecutable *gradcExecutableCreate(MlirModule module, int optLevel,
                                       char **error) {
  std::string message;
  std::unique_ptr<Executable> executable =
      Executable::create(unwrap(module), optLevel, message);
  if (!executable)
    *error = strdup(message.c_str());
  return reinterpret_cast<GradcExecutable *>(executable.release());
}

void gradcExecutableDestroy(GradcExecutable *executable) {
  delete unwrap(executable);
}

intptr_t gradcExecutableGetNumFunctions(GradcExecutable *executable) {
  return unwrap(executable)->getFunctions().size();
}

GradcFunction *gradcExecutableGetFunction(GradcExecutable *executable,
                                          intptr_t index) {
  return reinterpret_cast<GradcFunction *>(
      unwrap(executable)->getFunctions()[index].get());
}

const char *gradcFunctionGetName(GradcFunction *function) {
  return unwrap(function)->name.c_str();
}

intptr_t gradcFunctionGetNumInputs(GradcFunction *function) {
  return unwrap(function)->inputs.size();
}

intptr_t gradcFunctionGetNumOutputs(GradcFunction *function) {
  return unwrap(function)->outputs.size();
}

static GradcTensorType getType(const TensorSignature &signature) {
  return {signature.dtype.c_str(), signature.shape.data(),
          static_cast<intptr_t>(signature.shape.size())};
}

GradcTensorType gradcFunctionGetInput(GradcFunction *function, intptr_t index) {
  return getType(unwrap(function)->inputs[index]);
}

GradcTensorType gradcFunctionGetOutput(GradcFunction *function,
                                       intptr_t index) {
  return getType(unwrap(function)->outputs[index]);
}

intptr_t gradcFunctionGetArenaBytes(GradcFunction *function) {
  return unwrap(function)->code->getArenaBytes();
}

bool gradcFunctionCall(GradcFunction *function, const uintptr_t *pointers,
                       char **error) {
  std::string message;
  if (unwrap(function)->code->call(pointers, message))
    return true;
  *error = strdup(message.c_str());
  return false;
}

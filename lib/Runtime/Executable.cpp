//===- Executable.cpp - A lowered module, compiled and callable -----------===//

#include "Runtime/Executable.h"

#include "Lower/Passes.h"
#include "Runtime/Codegen.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <mutex>

using namespace mlir;
using namespace mlir::grad;

/// The `scipy-openblas32` package is installed beside the `mlir` package, whose
/// library is in this process. Without it, products run on a plain loop nest.
static void loadBlasBesideMLIR() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&translateModuleToLLVMIR), &info))
    return;
  llvm::SmallString<256> path;
  if (llvm::sys::fs::real_path(info.dli_fname, path))
    return;
  for (int i = 0; i < 3; ++i)
    llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "scipy_openblas32", "lib",
                          "libscipy_openblas.so");
  if (llvm::sys::fs::exists(path))
    (void)gradc::loadBlas(path.str().str());
}

/// The LLVM bitcode of `module`, or an empty string.
static std::string translate(ModuleOp module) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  std::string bitcode;
  if (llvmModule) {
    llvm::raw_string_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*llvmModule, stream);
  }
  return bitcode;
}

static std::vector<TensorSignature> getSignatures(Attribute types) {
  std::vector<TensorSignature> signatures;
  for (Type type : cast<ArrayAttr>(types).getAsValueRange<TypeAttr>()) {
    auto tensor = cast<RankedTensorType>(type);
    TensorSignature signature;
    llvm::raw_string_ostream(signature.dtype) << tensor.getElementType();
    signature.shape = tensor.getShape().vec();
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

std::unique_ptr<Executable> Executable::create(ModuleOp module, int optLevel,
                                               std::string &error) {
  static std::once_flag once;
  std::call_once(once, loadBlasBesideMLIR);
  std::string bitcode = translate(module);
  if (bitcode.empty()) {
    error = "the module is not in the LLVM dialect; run grad-to-llvm-cpu first";
    return nullptr;
  }
  std::vector<const char *> names;
  std::vector<void *> addresses;
  for (const gradc::RuntimeSymbol &symbol : gradc::runtimeSymbols()) {
    names.push_back(symbol.name);
    addresses.push_back(symbol.address);
  }
  auto takeError = [&](char *message) {
    error = message ? message : "unknown error";
    gradc_codegen_free_string(message);
  };
  char *message = nullptr;
  std::unique_ptr<Executable> result(new Executable);
  result->code = gradc_codegen_compile(bitcode.data(), bitcode.size(), optLevel,
                                       names.data(), addresses.data(),
                                       names.size(), &message);
  if (!result->code) {
    takeError(message);
    return nullptr;
  }
  for (LLVM::LLVMFuncOp entry : module.getOps<LLVM::LLVMFuncOp>()) {
    auto arenaBytes = entry->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
    if (!arenaBytes || !entry.getName().starts_with(kEntryPrefix))
      continue;
    void *address = gradc_codegen_lookup(
        result->code, entry.getName().str().c_str(), &message);
    if (!address) {
      takeError(message);
      return nullptr;
    }
    auto function = std::make_unique<ExecutableFunction>();
    function->name = entry.getName().drop_front(kEntryPrefix.size()).str();
    function->inputs = getSignatures(entry->getAttr(kInputsAttr));
    function->outputs = getSignatures(entry->getAttr(kOutputsAttr));
    function->code = std::make_unique<gradc::CompiledFunction>(
        reinterpret_cast<gradc::CompiledFunction::Entry>(address),
        function->inputs.size() + function->outputs.size(),
        arenaBytes.getInt());
    result->functions.push_back(std::move(function));
  }
  return result;
}

Executable::~Executable() {
  if (code)
    gradc_codegen_free(code);
}

ExecutableFunction *Executable::find(StringRef name) {
  for (std::unique_ptr<ExecutableFunction> &function : functions)
    if (function->name == name)
      return function.get();
  return nullptr;
}

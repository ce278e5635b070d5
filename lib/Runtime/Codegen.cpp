//===- Codegen.cpp - Machine code from LLVM bitcode -----------------------===//

#include "Runtime/Codegen.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

struct GradcCode {
  std::unique_ptr<orc::LLJIT> jit;
};

/// A copy of `text` that outlives this library's strings.
static char *copyString(StringRef text) {
  char *copy = static_cast<char *>(malloc(text.size() + 1));
  memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

static void setError(char **error, Error reason) {
  std::string text = toString(std::move(reason));
  if (error)
    *error = copyString(text);
}

static void initializeTargets() {
  static bool ready = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)ready;
}

static Expected<std::unique_ptr<Module>>
readModule(const char *bitcode, size_t size, LLVMContext &context) {
  auto module = parseBitcodeFile(
      MemoryBufferRef(StringRef(bitcode, size), "gradc"), context);
  if (!module)
    return module.takeError();
  std::string message;
  raw_string_ostream stream(message);
  if (verifyModule(**module, &stream))
    return createStringError("invalid LLVM IR: " + message);
  return module;
}

/// Runs LLVM's own pipeline for `optLevel`, with the vectorizers that it
/// leaves off by default, for the CPU of `machine`.
static void optimize(Module &module, TargetMachine &machine, int optLevel) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // longjmp leaves the code on a failed assertion; no unwinder sees it.
    function.addFnAttr(Attribute::NoUnwind);
  }

  PipelineTuningOptions tuning;
  tuning.LoopVectorization = optLevel > 1;
  tuning.SLPVectorization = optLevel > 1;
  tuning.LoopInterleaving = optLevel > 1;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  OptimizationLevel level = optLevel <= 0   ? OptimizationLevel::O0
                            : optLevel == 1 ? OptimizationLevel::O1
                            : optLevel == 2 ? OptimizationLevel::O2
                                            : OptimizationLevel::O3;
  ModulePassManager manager =
      level == OptimizationLevel::O0
          ? builder.buildO0DefaultPipeline(level)
          : builder.buildPerModuleDefaultPipeline(level);
  manager.run(module, modules);
}

static CodeGenOptLevel codegenLevel(int optLevel) {
  return optLevel <= 0   ? CodeGenOptLevel::None
         : optLevel == 1 ? CodeGenOptLevel::Less
         : optLevel == 2 ? CodeGenOptLevel::Default
                         : CodeGenOptLevel::Aggressive;
}

static Expected<std::unique_ptr<GradcCode>>
compile(StringRef bitcode, int optLevel,
        ArrayRef<std::pair<const char *, void *>> symbols) {
  initializeTargets();
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  host->setCodeGenOptLevel(codegenLevel(optLevel));
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();

  auto context = std::make_unique<LLVMContext>();
  auto module = readModule(bitcode.data(), bitcode.size(), *context);
  if (!module)
    return module.takeError();
  optimize(**module, **machine, optLevel);

  auto jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
  if (!jit)
    return jit.takeError();
  orc::SymbolMap table;
  for (auto [name, address] : symbols)
    table[(*jit)->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                            JITSymbolFlags::Exported |
                                                JITSymbolFlags::Callable};
  if (Error error = (*jit)->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(table))))
    return std::move(error);
  if (Error error = (*jit)->addIRModule(
          orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return std::move(error);
  auto code = std::make_unique<GradcCode>();
  code->jit = std::move(*jit);
  return code;
}

GradcCode *gradc_codegen_compile(const char *bitcode, size_t size, int optLevel,
                                 const char *const *names,
                                 void *const *addresses, size_t numSymbols,
                                 char **error) {
  SmallVector<std::pair<const char *, void *>> symbols;
  for (size_t i = 0; i < numSymbols; ++i)
    symbols.emplace_back(names[i], addresses[i]);
  auto code = compile(StringRef(bitcode, size), optLevel, symbols);
  if (!code) {
    setError(error, code.takeError());
    return nullptr;
  }
  return code->release();
}

void *gradc_codegen_lookup(GradcCode *code, const char *name, char **error) {
  auto address = code->jit->lookup(name);
  if (!address) {
    setError(error, address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}

void gradc_codegen_free(GradcCode *code) { delete code; }

static Error emitObject(StringRef bitcode, int optLevel, StringRef cpu,
                        StringRef features, SmallVectorImpl<char> &object) {
  initializeTargets();
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  if (!cpu.empty()) {
    host->setCPU(cpu.str());
    host->getFeatures() = SubtargetFeatures(features);
  }
  host->setCodeGenOptLevel(codegenLevel(optLevel));
  host->setRelocationModel(Reloc::PIC_);
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  auto module = readModule(bitcode.data(), bitcode.size(), context);
  if (!module)
    return module.takeError();
  optimize(**module, **machine, optLevel);

  raw_svector_ostream stream(object);
  legacy::PassManager manager;
  if ((*machine)->addPassesToEmitFile(manager, stream, nullptr,
                                      CodeGenFileType::ObjectFile))
    return createStringError("this target cannot emit object files");
  manager.run(**module);
  return Error::success();
}

int gradc_codegen_emit_object(const char *bitcode, size_t size, int optLevel,
                              const char *cpu, const char *features,
                              char **object, size_t *objectSize, char **error) {
  SmallVector<char, 0> bytes;
  if (Error reason = emitObject(StringRef(bitcode, size), optLevel, cpu,
                                features, bytes)) {
    setError(error, std::move(reason));
    return 1;
  }
  *object = copyString(StringRef(bytes.data(), bytes.size()));
  *objectSize = bytes.size();
  return 0;
}

void gradc_codegen_free_string(char *text) { free(text); }

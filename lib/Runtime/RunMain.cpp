//===- RunMain.cpp - Compile a file and run one of its functions ----------===//

#include "Runtime/RunMain.h"

#include "GradDialect.h"
#include "Lower/Passes.h"
#include "Pipelines/Pipelines.h"
#include "Pipelines/Register.h"
#include "Runtime/Executable.h"
#include "Runtime/ThreadPool.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::grad;

namespace {
struct Options {
  llvm::cl::OptionCategory category{"gradc-run options"};
  llvm::cl::opt<std::string> input{
      llvm::cl::Positional, llvm::cl::desc("<file, or - for stdin>"),
      llvm::cl::init("-"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> entry{
      "e", llvm::cl::desc("function to run"), llvm::cl::value_desc("name"),
      llvm::cl::init("main"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> arguments{
      "arg", llvm::cl::desc("an argument, as dense<...> : tensor<...>"),
      llvm::cl::value_desc("attribute"), llvm::cl::cat(category)};
  llvm::cl::opt<int> optLevel{"O", llvm::cl::Prefix,
                              llvm::cl::desc("optimization level of LLVM"),
                              llvm::cl::init(3), llvm::cl::cat(category)};
  llvm::cl::opt<int> threads{
      "num-threads", llvm::cl::desc("threads to run on; 0 for all CPUs"),
      llvm::cl::init(0), llvm::cl::cat(category)};
};
} // namespace

static int fail(const Twine &message) {
  llvm::errs() << "gradc-run: error: " << message << "\n";
  return 1;
}

static bool hasTransforms(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return isa<VjpOp, JvpOp>(op) ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The elements of `attribute` as the runtime stores them.
static std::vector<char> toBytes(DenseElementsAttr attribute) {
  std::vector<char> bytes;
  if (attribute.getElementType().isInteger(1)) {
    for (bool value : attribute.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  ArrayRef<char> raw = attribute.getRawData();
  int64_t copies = attribute.isSplat() ? attribute.getNumElements() : 1;
  for (int64_t i = 0; i < copies; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

static DenseElementsAttr fromBytes(RankedTensorType type,
                                   ArrayRef<char> bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values;
  for (char byte : bytes)
    values.push_back(byte != 0);
  return DenseElementsAttr::get(type, values);
}

static size_t getByteSize(RankedTensorType type) {
  Type element = type.getElementType();
  size_t factor = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    factor = 2;
  }
  size_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * factor * llvm::divideCeil(bits, 8);
}

/// Runs `name` on `texts` and prints its results.
static int runFunction(ModuleOp lowered, Executable &executable,
                       const std::string &name, ArrayRef<std::string> texts) {
  ExecutableFunction *function = executable.find(name);
  if (!function)
    return fail("no public function '" + name + "'");
  auto entry =
      lowered.lookupSymbol<LLVM::LLVMFuncOp>((kEntryPrefix + name).str());
  auto inputs = entry->getAttrOfType<ArrayAttr>(kInputsAttr);
  auto outputs = entry->getAttrOfType<ArrayAttr>(kOutputsAttr);
  if (texts.size() != inputs.size())
    return fail("'" + name + "' takes " + Twine(inputs.size()) +
                " arguments, got " + Twine(texts.size()));

  std::vector<std::vector<char>> buffers;
  for (auto [i, text] : llvm::enumerate(texts)) {
    Type expected = cast<TypeAttr>(inputs[i]).getValue();
    auto value = dyn_cast_or_null<DenseElementsAttr>(
        parseAttribute(text, lowered.getContext()));
    if (!value || value.getType() != expected) {
      std::string type;
      llvm::raw_string_ostream(type) << expected;
      return fail("argument " + Twine(i) + " has to be dense<...> : " + type +
                  ", got " + text);
    }
    buffers.push_back(toBytes(value));
  }
  for (Type type : outputs.getAsValueRange<TypeAttr>())
    buffers.emplace_back(getByteSize(cast<RankedTensorType>(type)));
  std::vector<uintptr_t> pointers;
  for (std::vector<char> &buffer : buffers)
    pointers.push_back(reinterpret_cast<uintptr_t>(buffer.data()));

  std::string error;
  if (!function->code->call(pointers.data(), error))
    return fail(error);
  for (auto [i, type] : llvm::enumerate(outputs.getAsValueRange<TypeAttr>()))
    llvm::outs() << fromBytes(cast<RankedTensorType>(type),
                              buffers[inputs.size() + i])
                 << "\n";
  return 0;
}

int grad::runMain(int argc, char **argv) {
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  llvm::cl::ParseCommandLineOptions(
      argc, argv, "compiles an MLIR file and runs one of its functions\n");

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAll(registry);
  MLIRContext context(registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(options.input, &message);
  if (!file)
    return fail(message);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  PassManager manager(&context);
  if (hasTransforms(*module))
    buildGradientPipeline(manager);
  buildCPUPipeline(manager);
  if (failed(manager.run(*module)))
    return 1;

  std::unique_ptr<Executable> executable =
      Executable::create(*module, options.optLevel, message);
  if (!executable)
    return fail(message);
  gradc::setThreadBudget(options.threads);
  return runFunction(*module, *executable, options.entry, options.arguments);
}

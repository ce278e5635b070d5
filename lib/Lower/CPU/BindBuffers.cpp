//===- BindBuffers.cpp - Functions on the caller's buffers ----------------===//

#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_BINDBUFFERSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// Tensors without elements are passed as one kind of empty buffer, and never
/// looked at.
static bool isEmpty(Type type) {
  return cast<RankedTensorType>(type).getNumElements() == 0;
}

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (isEmpty(type))
    return MemRefType::get({0}, tensor.getElementType());
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

static void bind(func::FuncOp function) {
  Block &body = function.getBody().front();
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  OpBuilder builder(terminator);
  FunctionType type = function.getFunctionType();
  function->setAttr(kInputsAttr, builder.getTypeArrayAttr(type.getInputs()));
  function->setAttr(kOutputsAttr, builder.getTypeArrayAttr(type.getResults()));

  SmallVector<Type> buffers;
  SmallVector<std::pair<Value, Value>> placedResults;
  for (Value result : terminator.getOperands()) {
    MemRefType bufferType = getBufferType(result.getType());
    Value buffer = body.addArgument(bufferType, result.getLoc());
    buffers.push_back(bufferType);
    if (isEmpty(result.getType()))
      continue;
    // As a tensor, so that the analysis of bufferization sees the write: what
    // is computed in the buffer must not be overwritten while it is needed.
    Location loc = terminator.getLoc();
    OpBuilder atStart = OpBuilder::atBlockBegin(&body);
    Value destination = bufferization::ToTensorOp::create(
        atStart, loc, result.getType(), buffer, /*restrict=*/true,
        /*writable=*/true);
    Value placed = bufferization::MaterializeInDestinationOp::create(
                       builder, loc, result.getType(), result, destination)
                       .getResult();
    placedResults.emplace_back(placed, buffer);
  }
  // These write nothing, and keep what is in the buffers alive.
  for (auto [placed, buffer] : placedResults)
    bufferization::MaterializeInDestinationOp::create(
        builder, terminator.getLoc(), /*result=*/Type(), placed, buffer,
        /*restrict=*/true, /*writable=*/true);
  terminator->setOperands({});

  builder.setInsertionPointToStart(&body);
  SmallVector<Type> arguments;
  for (BlockArgument argument :
       body.getArguments().take_front(type.getNumInputs())) {
    Type tensorType = argument.getType();
    MemRefType bufferType = getBufferType(tensorType);
    arguments.push_back(bufferType);
    if (isEmpty(tensorType)) {
      auto tensor = cast<RankedTensorType>(tensorType);
      argument.replaceAllUsesWith(
          tensor::EmptyOp::create(builder, argument.getLoc(), tensor.getShape(),
                                  tensor.getElementType()));
      argument.setType(bufferType);
      continue;
    }
    argument.setType(bufferType);
    // Restricted, because bufferization asks for it: arguments may share
    // memory, but nothing is ever written to them.
    auto tensor = bufferization::ToTensorOp::create(
        builder, argument.getLoc(), tensorType, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  llvm::append_range(arguments, buffers);
  function.setFunctionType(builder.getFunctionType(arguments, {}));
  function.setAllArgAttrs(SmallVector<DictionaryAttr>(
      arguments.size(), builder.getDictionaryAttr({})));
  function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
  function.setSymName((kBodyPrefix + function.getSymName()).str());
}

namespace {
struct BindBuffersPass : grad::impl::BindBuffersPassBase<BindBuffersPass> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration())
        bind(function);
  }
};
} // namespace

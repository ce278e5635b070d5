//===- EmitParallelCalls.cpp - Calls through the thread pool --------------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_EMITPARALLELCALLSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// A kernel on a range, and what stands for it in the thread pool.
struct RangeKernel {
  LLVM::LLVMFuncOp kernel, range;
  /// Its arguments but the bounds, as they lie in memory.
  LLVM::LLVMStructType arguments;
  int64_t size, grain;
};

struct EmitParallelCallsPass
    : grad::impl::EmitParallelCallsPassBase<EmitParallelCallsPass> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> functions(
        getOperation().getOps<LLVM::LLVMFuncOp>());
    llvm::StringMap<RangeKernel> kernels;
    for (LLVM::LLVMFuncOp function : functions)
      if (auto parallel =
              function->getAttrOfType<DenseI64ArrayAttr>(kParallelAttr))
        kernels[function.getName()] =
            emitRange(function, parallel[0], parallel[1]);
    if (kernels.empty())
      return;
    for (LLVM::LLVMFuncOp function : functions) {
      SmallVector<std::pair<LLVM::CallOp, RangeKernel *>> calls;
      function.walk([&](LLVM::CallOp call) {
        auto kernel = kernels.find(call.getCallee().value_or(""));
        if (kernel != kernels.end())
          calls.emplace_back(call, &kernel->second);
      });
      if (!calls.empty())
        divide(function, calls);
    }
  }

  /// `void range(i64 begin, i64 end, ptr arguments)`.
  RangeKernel emitRange(LLVM::LLVMFuncOp kernel, int64_t size, int64_t grain) {
    MLIRContext *context = &getContext();
    Location loc = kernel.getLoc();
    OpBuilder builder(context);
    builder.setInsertionPointAfter(kernel);
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = builder.getI64Type();
    auto arguments = LLVM::LLVMStructType::getLiteral(
        context, kernel.getArgumentTypes().drop_back(2));
    auto range = LLVM::LLVMFuncOp::create(
        builder, loc, (kernel.getName() + ".range").str(),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                    {i64, i64, pointer}));
    Block *block = range.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    SmallVector<Value> operands;
    for (auto [i, type] : llvm::enumerate(arguments.getBody()))
      operands.push_back(LLVM::LoadOp::create(
          builder, loc, type,
          getField(builder, loc, arguments, block->getArgument(2), i)));
    operands.push_back(block->getArgument(0));
    operands.push_back(block->getArgument(1));
    LLVM::CallOp::create(builder, loc, kernel, operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    kernel->removeAttr(kParallelAttr);
    return {kernel, range, arguments, size, grain};
  }

  static Value getField(OpBuilder &builder, Location loc,
                        LLVM::LLVMStructType type, Value memory,
                        int32_t index) {
    return LLVM::GEPOp::create(builder, loc, memory.getType(), type, memory,
                               ArrayRef<LLVM::GEPArg>{0, index});
  }

  void divide(LLVM::LLVMFuncOp function,
              ArrayRef<std::pair<LLVM::CallOp, RangeKernel *>> calls) {
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Location loc = function.getLoc();
    auto builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Type i64 = builder.getI64Type();
    FailureOr<LLVM::LLVMFuncOp> parallelFor = LLVM::lookupOrCreateFn(
        builder, getOperation(), "gradc_parallel_for",
        {i64, i64, pointer, pointer}, LLVM::LLVMVoidType::get(&getContext()));
    // Arguments are words at most.
    size_t words = 1;
    for (auto [call, kernel] : calls)
      words = std::max(words, kernel->arguments.getBody().size());
    Value one = LLVM::ConstantOp::create(builder, loc, i64, 1);
    Value memory = LLVM::AllocaOp::create(
        builder, loc, pointer, LLVM::LLVMArrayType::get(i64, words), one);
    for (auto [call, kernel] : calls) {
      builder.setInsertionPoint(call);
      for (auto [i, value] :
           llvm::enumerate(call.getArgOperands().drop_back(2)))
        LLVM::StoreOp::create(
            builder, call.getLoc(), value,
            getField(builder, call.getLoc(), kernel->arguments, memory, i));
      Value size =
          LLVM::ConstantOp::create(builder, call.getLoc(), i64, kernel->size);
      Value grain =
          LLVM::ConstantOp::create(builder, call.getLoc(), i64, kernel->grain);
      Value range =
          LLVM::AddressOfOp::create(builder, call.getLoc(), kernel->range);
      LLVM::CallOp::create(builder, call.getLoc(), *parallelFor,
                           ValueRange{size, grain, range, memory});
      call.erase();
    }
  }
};
} // namespace

//===- LowerAssert.cpp - Assertions end the call, not the process ---------===//

#include "Lower/Passes.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::grad {
#define GEN_PASS_DEF_LOWERASSERTPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

namespace {
/// The first file and line in `loc`, as "file:line"; empty if there is none.
std::string sourceLine(Location loc) {
  std::string found;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place || place.getLine() == 0)
      return WalkResult::advance();
    found =
        (place.getFilename().getValue() + ":" + Twine(place.getLine())).str();
    return WalkResult::interrupt();
  });
  return found;
}

struct LowerAssertPass : grad::impl::LowerAssertPassBase<LowerAssertPass> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> ops;
    getOperation()->walk([&](cf::AssertOp op) { ops.push_back(op); });
    for (cf::AssertOp op : ops)
      lower(op);
  }

  void lower(cf::AssertOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    FailureOr<LLVM::LLVMFuncOp> fail =
        LLVM::lookupOrCreateFn(builder, getOperation(), "gradc_rt_fail",
                               pointer, LLVM::LLVMVoidType::get(&getContext()));
    (*fail)->setAttr("passthrough",
                     builder.getStrArrayAttr({"noreturn", "cold"}));
    // The line of the source is a second line of the message.
    std::string text = op.getMsg().str();
    if (std::string place = sourceLine(loc); !place.empty())
      text += "\n" + place;
    LLVM::GlobalOp message = getMessage(text, loc);

    Block *block = op->getBlock();
    Block *rest = block->splitBlock(op);
    Block *failure = new Block;
    failure->insertBefore(rest);
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, op.getArg(), rest, ValueRange(),
                             failure, ValueRange());
    builder.setInsertionPointToStart(failure);
    Value address = LLVM::AddressOfOp::create(builder, loc, message);
    LLVM::CallOp::create(builder, loc, *fail, address);
    LLVM::UnreachableOp::create(builder, loc);
    op.erase();
  }

  LLVM::GlobalOp getMessage(StringRef text, Location loc) {
    LLVM::GlobalOp &message = messages[text];
    if (message)
      return message;
    auto builder = OpBuilder::atBlockBegin(getOperation().getBody());
    std::string terminated = text.str();
    terminated.push_back('\0');
    auto type =
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    message = LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        ("gradc.message." + Twine(messages.size() - 1)).str(),
        builder.getStringAttr(terminated));
    return message;
  }

  llvm::StringMap<LLVM::GlobalOp> messages;
};
} // namespace

//===- EmitEntries.cpp - One entry point a public function ----------------===//

#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_EMITENTRIESPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

static void emitEntry(LLVM::LLVMFuncOp body) {
  MLIRContext *context = body.getContext();
  Location loc = body.getLoc();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(body);
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc,
      (kEntryPrefix + body.getName().drop_front(kBodyPrefix.size())).str(),
      type);
  for (StringRef name : {kInputsAttr, kOutputsAttr, kArenaBytesAttr}) {
    entry->setAttr(name, body->getAttr(name));
    body->removeAttr(name);
  }
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < body.getNumArguments(); ++i) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, pointer,
                            block->getArgument(0), ArrayRef<LLVM::GEPArg>{i});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

namespace {
struct EmitEntriesPass : grad::impl::EmitEntriesPassBase<EmitEntriesPass> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> bodies;
    for (LLVM::LLVMFuncOp function :
         getOperation().getOps<LLVM::LLVMFuncOp>()) {
      // Only entries are visible: LLVM may change or drop everything else.
      if (!function.isExternal())
        function.setLinkage(LLVM::Linkage::Internal);
      if (function->hasAttr(kArenaBytesAttr))
        bodies.push_back(function);
    }
    for (LLVM::LLVMFuncOp body : bodies)
      emitEntry(body);
  }
};
} // namespace

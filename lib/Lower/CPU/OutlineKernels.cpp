//===- OutlineKernels.cpp - One function for each linalg op ---------------===//

#include "Lower/CPU/Buffers.h"
#include "Lower/CPU/Work.h"
#include "Lower/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::grad {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
/// The interface of a kernel: the values that the op uses, each once, and
/// which of them it writes.
struct Interface {
  llvm::SmallSetVector<Value, 8> values;
  llvm::SmallPtrSet<Value, 4> written;
  SmallVector<Operation *> constants;

  explicit Interface(linalg::LinalgOp op) {
    llvm::SetVector<Value> used;
    used.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used) {
      Operation *producer = value.getDefiningOp();
      if (producer && producer->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(producer);
      else
        values.insert(value);
    }
    for (Value init : op.getDpsInits())
      written.insert(init);
  }

  /// Kernels take bare pointers, so strides have to be static.
  bool isSupported() const {
    return llvm::all_of(values, [](Value value) {
      auto type = dyn_cast<MemRefType>(value.getType());
      return type ? getStaticLayout(type).has_value()
                  : value.getType().isIntOrIndexOrFloat();
    });
  }

  /// True when no other argument shares memory with `value` that either of
  /// the two writes.
  bool isNoAlias(Value value) const {
    return llvm::all_of(values, [&](Value other) {
      if (other == value || !isa<MemRefType>(other.getType()))
        return true;
      if (!written.contains(value) && !written.contains(other))
        return true;
      return areDistinct(value, other);
    });
  }
};

struct OutlineKernelsPass
    : grad::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    normalize(rewriter);
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](linalg::LinalgOp op) {
      ops.push_back(op);
      return WalkResult::skip();
    });
    for (linalg::LinalgOp op : ops)
      outline(op);
  }

  /// Copies that are not one block of memory, or a large one, become linalg
  /// ops; every linalg op becomes a generic.
  void normalize(IRRewriter &rewriter) {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      // An empty buffer has strides that no later pass wants to see.
      if (source && source.hasStaticShape() && source.getNumElements() == 0)
        rewriter.eraseOp(copy);
      else if (source && target &&
               (!source.getLayout().isIdentity() ||
                !target.getLayout().isIdentity() ||
                (source.hasStaticShape() &&
                 2 * estimateTraffic(source) >= kParallelWork)))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      rewriter.eraseOp(copy);
    }
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op.emitOpError("cannot be written as a linalg.generic");
        signalPassFailure();
      }
    }
  }

  void outline(linalg::LinalgOp op) {
    if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
      op.erase();
      return;
    }
    Interface interface(op);
    if (!interface.isSupported())
      return;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Argument> arguments;
    for (Value value : interface.values)
      arguments.push_back(getArgument(builder, loc, value));
    SmallVector<Value> operands;
    for (const Argument &argument : arguments) {
      operands.push_back(argument.passed);
      if (argument.offset)
        operands.push_back(argument.offset);
    }

    std::string name = (kKernelPrefix + Twine(numKernels)).str();
    auto type = builder.getFunctionType(ValueRange(operands).getTypes(), {});
    auto kernel = func::FuncOp::create(loc, name, type);
    kernel.setPrivate();
    kernel->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    unsigned position = 0;
    for (const Argument &argument : arguments) {
      if (isa<MemRefType>(argument.value.getType()) &&
          interface.isNoAlias(argument.value))
        kernel.setArgAttr(position, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
      Value inside = body->getArgument(position++);
      if (argument.offset)
        inside =
            restoreOffset(builder, loc, inside, body->getArgument(position++),
                          cast<MemRefType>(argument.value.getType()));
      mapping.map(argument.value, inside);
    }
    for (Operation *constant : interface.constants)
      builder.clone(*constant, mapping);
    builder.clone(*op, mapping);
    func::ReturnOp::create(builder, loc);

    StringRef callee = insert(kernel);
    builder.setInsertionPoint(op);
    func::CallOp::create(builder, loc, callee, TypeRange(), operands);
    op.erase();
  }

  /// How a value gets into a kernel. A slice at an offset that is not known
  /// now goes as its base and the offset: bare pointers leave no room for one.
  struct Argument {
    Value value, passed, offset;
  };

  static Argument getArgument(OpBuilder &builder, Location loc, Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || getStaticLayout(type)->hasStaticOffset())
      return {value, value, Value()};
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, value);
    return {value, metadata.getBaseBuffer(), metadata.getOffset()};
  }

  static Value restoreOffset(OpBuilder &builder, Location loc, Value base,
                             Value offset, MemRefType type) {
    SmallVector<OpFoldResult> sizes, strides;
    for (int64_t size : type.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    for (int64_t stride : getStaticLayout(type)->strides)
      strides.push_back(builder.getIndexAttr(stride));
    return memref::ReinterpretCastOp::create(
        builder, loc, type, base, OpFoldResult(offset), sizes, strides);
  }

  /// Adds `kernel` to the module, or finds the one that equals it. Returns
  /// the name to call.
  StringRef insert(func::FuncOp kernel) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    std::string name = kernel.getName().str();
    kernel.setName("kernel");
    kernel->print(stream, OpPrintingFlags().useLocalScope());
    kernel.setName(name);
    auto [known, isNew] = kernels.try_emplace(text, name);
    if (isNew) {
      getOperation().push_back(kernel);
      ++numKernels;
    } else {
      kernel->erase();
    }
    return known->second;
  }

  llvm::StringMap<std::string> kernels;
};
} // namespace

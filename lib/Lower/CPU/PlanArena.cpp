//===- PlanArena.cpp - Buffers at fixed offsets of one arena --------------===//
//
// A buffer lives from the first to the last top-level operation that uses it
// or anything that may be a view of it. Buffers are placed in the order of
// their first use, each in the smallest hole that it fits in.
//
//===----------------------------------------------------------------------===//

#include "Lower/Passes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include <map>

namespace mlir::grad {
#define GEN_PASS_DEF_PLANARENAPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

static constexpr int64_t kAlignment = 64;

static int64_t getSize(MemRefType type) {
  Type element = type.getElementType();
  int64_t factor = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    factor = 2;
  }
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return llvm::alignTo(
      type.getNumElements() * factor * llvm::divideCeil(bits, 8), kAlignment);
}

/// Everything that may be a name of the memory of `buffer`.
static llvm::SetVector<Value> getAliases(Value buffer) {
  llvm::SetVector<Value> aliases;
  aliases.insert(buffer);
  for (unsigned i = 0; i < aliases.size(); ++i) {
    for (Operation *user : aliases[i].getUsers()) {
      // An address taken of a buffer, and what is computed from it, keeps the
      // buffer alive: matrix products get raw pointers.
      bool isAddress = isa<memref::ExtractAlignedPointerAsIndexOp>(user) ||
                       !isa<BaseMemRefType>(aliases[i].getType());
      auto insertBuffers = [&](auto values) {
        for (Value value : values)
          if (isAddress || isa<BaseMemRefType>(value.getType()))
            aliases.insert(value);
      };
      Operation *parent = user->getParentOp();
      // A region op may hand its operands to its regions and results; a
      // terminator may do so with what the region computed.
      if (user->hasTrait<OpTrait::IsTerminator>() &&
          !isa<func::FuncOp>(parent)) {
        insertBuffers(parent->getResults());
        for (Region &region : parent->getRegions())
          insertBuffers(region.getArguments());
      } else {
        insertBuffers(user->getResults());
        for (Region &region : user->getRegions())
          insertBuffers(region.getArguments());
      }
    }
  }
  return aliases;
}

namespace {
struct Buffer {
  memref::AllocOp alloc;
  int64_t size;
  int64_t first, last;
  int64_t offset = 0;
};

/// Free memory below the high-water mark, as offset -> size.
class FreeList {
public:
  int64_t take(int64_t size) {
    auto best = holes.end();
    for (auto it = holes.begin(); it != holes.end(); ++it)
      if (it->second >= size &&
          (best == holes.end() || it->second < best->second))
        best = it;
    if (best == holes.end()) {
      // Grow from the last hole if it touches the end.
      int64_t offset = end;
      if (!holes.empty() &&
          holes.rbegin()->first + holes.rbegin()->second == end) {
        offset = holes.rbegin()->first;
        holes.erase(std::prev(holes.end()));
      }
      end = offset + size;
      return offset;
    }
    auto [offset, available] = *best;
    holes.erase(best);
    if (available > size)
      holes[offset + size] = available - size;
    return offset;
  }

  void give(int64_t offset, int64_t size) {
    auto next = holes.lower_bound(offset);
    if (next != holes.end() && offset + size == next->first) {
      size += next->second;
      next = holes.erase(next);
    }
    if (next != holes.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    holes[offset] = size;
  }

  int64_t getEnd() const { return end; }

private:
  std::map<int64_t, int64_t> holes;
  int64_t end = 0;
};

/// Frees what a region allocates at its end, where nothing outlives it.
static void freeInRegions(func::FuncOp function) {
  function.walk([](memref::AllocOp alloc) {
    Block *block = alloc->getBlock();
    if (isa<func::FuncOp>(block->getParentOp()))
      return;
    bool escapes =
        llvm::any_of(getAliases(alloc.getResult()), [&](Value alias) {
          return alias != alloc.getResult() &&
                 (isa<BlockArgument>(alias)
                      ? alias.getParentBlock() == block
                      : !block->findAncestorOpInBlock(*alias.getDefiningOp()));
        });
    if (escapes)
      return;
    OpBuilder builder(block->getTerminator());
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc.getResult());
  });
}

struct PlanArenaPass : grad::impl::PlanArenaPassBase<PlanArenaPass> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kInputsAttr))
        plan(function);
  }

  SmallVector<Buffer> collect(func::FuncOp function) {
    Block &body = function.getBody().front();
    DenseMap<Operation *, int64_t> position;
    for (auto [i, op] : llvm::enumerate(body))
      position[&op] = i;
    SmallVector<Buffer> buffers;
    function.walk([&](memref::AllocOp alloc) {
      if (!alloc.getType().hasStaticShape() ||
          !alloc.getType().getLayout().isIdentity())
        return;
      Buffer buffer{alloc, getSize(alloc.getType()),
                    std::numeric_limits<int64_t>::max(), -1};
      for (Value alias : getAliases(alloc.getResult()))
        for (Operation *user : alias.getUsers()) {
          int64_t index = position[body.findAncestorOpInBlock(*user)];
          buffer.first = std::min(buffer.first, index);
          buffer.last = std::max(buffer.last, index);
        }
      buffers.push_back(buffer);
    });
    return buffers;
  }

  void plan(func::FuncOp function) {
    SmallVector<Buffer> buffers = collect(function);
    llvm::stable_sort(buffers, [](const Buffer &a, const Buffer &b) {
      return a.first < b.first;
    });
    FreeList memory;
    std::multimap<int64_t, Buffer *> live;
    for (Buffer &buffer : buffers) {
      while (!live.empty() && live.begin()->first < buffer.first) {
        Buffer *dead = live.begin()->second;
        memory.give(dead->offset, dead->size);
        live.erase(live.begin());
      }
      if (buffer.last < 0 || buffer.size == 0)
        continue;
      buffer.offset = memory.take(buffer.size);
      live.emplace(buffer.last, &buffer);
    }

    int64_t bytes = memory.getEnd();
    OpBuilder builder(&getContext());
    auto arenaType = MemRefType::get(bytes, builder.getI8Type());
    (void)function.insertArgument(function.getNumArguments(), arenaType, {},
                                  function.getLoc());
    function->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(bytes));
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    Block &body = function.getBody().front();
    Value arena = body.getArguments().back();
    for (Buffer &buffer : buffers) {
      Location loc = buffer.alloc.getLoc();
      builder.setInsertionPointToStart(&body);
      Value offset =
          arith::ConstantIndexOp::create(builder, loc, buffer.offset);
      Value view = memref::ViewOp::create(builder, loc, buffer.alloc.getType(),
                                          arena, offset, ValueRange());
      buffer.alloc.replaceAllUsesWith(view);
      buffer.alloc.erase();
      ++numBuffers;
    }
    arenaBytes += bytes;
    freeInRegions(function);
  }
};
} // namespace

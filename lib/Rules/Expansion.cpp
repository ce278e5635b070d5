//===- Expansion.cpp - Ops that stand for other ops -----------------------===//

#include "Rules/Expansion.h"

#include "Rules/Activity.h"
#include "Rules/BlockJvp.h"
#include "Rules/BlockVjp.h"
#include "Rules/RegionCopy.h"

using namespace mlir;
using namespace mlir::grad;

SmallVector<Operation *>
mlir::grad::collectCreated(OpBuilder &b, function_ref<void()> build) {
  Block *block = b.getInsertionBlock();
  Block::iterator end = b.getInsertionPoint();
  bool isFirst = end == block->begin();
  Block::iterator before = isFirst ? end : std::prev(end);
  build();
  Block::iterator begin = isFirst ? block->begin() : std::next(before);
  return llvm::map_to_vector(llvm::make_range(begin, end),
                             [](Operation &op) { return &op; });
}

/// What `ops` read for which `pred` holds.
static llvm::SetVector<Value> collectRead(ArrayRef<Operation *> ops,
                                          function_ref<bool(Value)> pred) {
  llvm::SetVector<Value> found;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (pred(value))
          found.insert(value);
    });
  return found;
}

/// `sources` and what depends on them in `ops`.
static DenseSet<Value> getActive(ArrayRef<Operation *> ops,
                                 const llvm::SetVector<Value> &sources) {
  DenseSet<Value> active;
  active.insert_range(sources);
  spreadActivity(ops, active);
  return active;
}

LogicalResult mlir::grad::emitVjpOfOps(ArrayRef<Operation *> ops,
                                       ValueRange results, ValueRange values,
                                       VjpBuilder &vjp) {
  llvm::SetVector<Value> sources =
      collectRead(ops, [&](Value value) { return vjp.needs(value); });
  for (Value value : values)
    if (vjp.needs(value))
      sources.insert(value);
  DenseSet<Value> active = getActive(ops, sources);
  BlockVjp inner(vjp.builder(),
                 [&](Value value) { return active.contains(value); });
  for (Value source : sources)
    if (Value cotangent = vjp.takeCotangent(source))
      inner.setCotangent(source, cotangent);
  for (auto [result, value] : llvm::zip_equal(results, values))
    inner.accumulate(value, vjp.cotangent(result));
  if (failed(inner.run(ops)))
    return failure();
  for (Value source : sources)
    if (Value cotangent = inner.cotangent(source))
      vjp.setCotangent(source, cotangent);
  return success();
}

namespace {
/// Forward mode over ops that take the place of another: what follows finds
/// the tangents of their results.
class ReplacementJvp : public BlockJvp {
public:
  ReplacementJvp(OpBuilder &builder, JvpBuilder &outer,
                 const DenseSet<Value> &active)
      : BlockJvp(builder, &outer,
                 [&active](Value value) { return active.contains(value); }),
        outer(outer) {}

  void setTangent(Value value, Value tangent) override {
    outer.setTangent(value, tangent);
  }

private:
  JvpBuilder &outer;
};
} // namespace

LogicalResult mlir::grad::emitJvpOfOps(ArrayRef<Operation *> ops,
                                       ValueRange results, ValueRange values,
                                       JvpBuilder &jvp) {
  DenseSet<Value> active =
      getActive(ops, collectRead(ops, [&](Value value) {
                  return static_cast<bool>(jvp.tangent(value));
                }));
  if (failed(ReplacementJvp(jvp.builder(), jvp, active).run(ops)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(results, values))
    if (Value tangent = jvp.tangent(value))
      jvp.setTangent(result, tangent);
  return success();
}

/// Emits what `op` stands for in front of it.
static FailureOr<SmallVector<Operation *>>
expandInFrontOf(Operation *op, mlir::grad::detail::ExpandFn expand,
                SmallVector<Value> &values) {
  OpBuilder before(op);
  FailureOr<SmallVector<Value>> expanded = failure();
  SmallVector<Operation *> ops =
      collectCreated(before, [&] { expanded = expand(before); });
  if (failed(expanded))
    return failure();
  values = std::move(*expanded);
  supersede(op, values);
  return ops;
}

LogicalResult mlir::grad::detail::emitExpandedVjp(Operation *op,
                                                  ExpandFn expand,
                                                  VjpBuilder &vjp) {
  if (llvm::none_of(op->getResults(),
                    [&](Value result) { return vjp.cotangent(result); }))
    return success();
  SmallVector<Value> values;
  FailureOr<SmallVector<Operation *>> ops = expandInFrontOf(op, expand, values);
  if (failed(ops))
    return failure();
  return emitVjpOfOps(*ops, op->getResults(), values, vjp);
}

LogicalResult mlir::grad::detail::emitExpandedJvp(Operation *op,
                                                  ExpandFn expand,
                                                  JvpBuilder &jvp) {
  SmallVector<Value> values;
  FailureOr<SmallVector<Operation *>> ops = expandInFrontOf(op, expand, values);
  if (failed(ops))
    return failure();
  return emitJvpOfOps(*ops, op->getResults(), values, jvp);
}

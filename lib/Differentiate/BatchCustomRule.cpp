//===- BatchCustomRule.cpp - Custom rules of batched functions ------------===//
//
// The rule of a batched function applies the rule of the function to every row.
// Gradients of arguments that all rows share are added up.
//
//===----------------------------------------------------------------------===//

#include "CustomRules.h"
#include "Differentiate/Transforms.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::grad;

/// The sum of the rows of `rows`, as a value of type `row`.
static Value sumRows(OpBuilder &b, Location loc, Value rows, Type row) {
  auto type = dyn_cast<RankedTensorType>(row);
  if (!type)
    return sumElements(b, loc, rows);
  auto sumType = RankedTensorType::get(
      type.getShape(), getAccumulatorType(type.getElementType()));
  unsigned rank = type.getRank();
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  AffineMap all = b.getMultiDimIdentityMap(rank + 1);
  Value sum =
      linalg::GenericOp::create(
          b, loc, sumType, rows, zeros(b, loc, sumType),
          ArrayRef{all, all.dropResult(0)}, iterators,
          [](OpBuilder &b, Location loc, ValueRange args) {
            Value term = convertElements(b, loc, args[0], args[1].getType());
            linalg::YieldOp::create(b, loc, addInto(b, loc, args[1], term));
          })
          .getResult(0);
  return convertElements(b, loc, sum, type);
}

/// The type of all rows of a value of type `row`.
static Type getRowsType(Type row, int64_t size) {
  SmallVector<int64_t> shape{size};
  if (auto type = dyn_cast<RankedTensorType>(row))
    llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, getElementTypeOrSelf(row));
}

namespace {
/// A private function that maps `rule` over the rows of the arguments in
/// `batched`. The caller ends it with a return.
struct MappedRule {
  MappedRule(func::FuncOp rule, ArrayRef<int64_t> batched, int64_t size)
      : builder(rule.getContext()), loc(rule.getLoc()) {
    SmallVector<Type> inputs(rule.getArgumentTypes());
    for (int64_t number : batched)
      inputs[number] = getRowsType(inputs[number], size);
    SmallVector<Type> results =
        llvm::map_to_vector(rule.getResultTypes(),
                            [&](Type type) { return getRowsType(type, size); });
    func = func::FuncOp::create(loc, (rule.getName() + ".rows").str(),
                                builder.getFunctionType(inputs, results));
    func.setPrivate();
    builder.setInsertionPointToStart(func.addEntryBlock());
    rows = VmapOp::create(builder, loc, results, rule.getName(),
                          func.getArguments(), batched, size)
               .getResults();
  }

  func::FuncOp finish() {
    func::ReturnOp::create(builder, loc, rows);
    func.setType(builder.getFunctionType(func.getArgumentTypes(),
                                         ValueRange(rows).getTypes()));
    return func;
  }

  OpBuilder builder;
  Location loc;
  func::FuncOp func;
  SmallVector<Value> rows;
};
} // namespace

LogicalResult TransformExpander::batchCustomRule(func::FuncOp callee,
                                                 func::FuncOp batched,
                                                 VmapOp vmap) {
  CustomRule rule(callee);
  int64_t size = vmap.getSize();
  auto lookup = [&](FlatSymbolRefAttr name) {
    return symbols.lookup<func::FuncOp>(name.getValue());
  };
  SmallVector<func::FuncOp> added;
  auto add = [&](MappedRule &mapped) {
    added.push_back(mapped.finish());
    symbols.insert(added.back());
    return FlatSymbolRefAttr::get(added.back().getSymNameAttr());
  };

  // Tangents and gradients have the arguments' form.
  SmallVector<int64_t> pattern(vmap.getBatched());
  SmallVector<int64_t> withTangents(pattern);
  SmallVector<std::pair<Type, bool>> gradients;
  for (auto [number, type] : llvm::enumerate(callee.getArgumentTypes())) {
    if (!isDifferentiableType(type))
      continue;
    bool isBatched = llvm::is_contained(pattern, static_cast<int64_t>(number));
    if (isBatched)
      withTangents.push_back(callee.getNumArguments() + gradients.size());
    gradients.push_back({type, isBatched});
  }

  if (rule.jvp) {
    MappedRule mapped(lookup(rule.jvp), withTangents, size);
    batched->setAttr(kCustomJvpAttr, add(mapped));
  }
  if (rule.backward) {
    MappedRule forward(lookup(rule.forward), pattern, size);
    func::FuncOp backwardRule = lookup(rule.backward);
    auto all = llvm::seq<int64_t>(0, backwardRule.getNumArguments());
    MappedRule backward(backwardRule, llvm::to_vector(all), size);
    for (auto [gradient, entry] : llvm::zip_equal(backward.rows, gradients))
      if (!entry.second)
        gradient =
            sumRows(backward.builder, backward.loc, gradient, entry.first);
    Attribute pair[] = {add(forward), add(backward)};
    batched->setAttr(kCustomVjpAttr, ArrayAttr::get(callee.getContext(), pair));
  }
  // Only now: a rule that calls the function calls one that has a rule.
  for (func::FuncOp func : added)
    if (failed(flatten(func)))
      return failure();
  return success();
}

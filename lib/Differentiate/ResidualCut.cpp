//===- ResidualCut.cpp - Save or recompute --------------------------------===//
//
// A minimum cut. Every early op and every early value is a node. The source
// stands for the forward function: a node on its side is computed there. The
// sink stands for the backward function: a value on its side is available
// there. An edge from an op to its result is cut when the result is saved; it
// has the bytes of the result as capacity. An edge from the source to an op is
// cut when the op is computed (again) in the backward function; it has the work
// as capacity. Whoever computes needs the operands, so the edges from values to
// the ops that read them cannot be cut.
//
// Work is measured in the bytes whose transfer takes as long, so a long chain
// of ops is saved at its end though each of them is cheap. Ops that run in the
// backward function alone unless a value they lead to is saved (a mask, for
// example) run once in any case, and cost nothing.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/ResidualCut.h"

#include "Differentiate/MinCut.h"
#include "GradScheduleOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::grad;

SmallVector<Value> mlir::grad::getReadValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(values, captured);
  return values;
}

bool mlir::grad::isFree(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (!isa<tensor::EmptyOp, linalg::FillOp, tensor::SplatOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return operand.getDefiningOp() && isFree(operand.getDefiningOp());
  });
}

RankedTensorType mlir::grad::getResidualType(Type type) {
  if (type.isIndex())
    type = IntegerType::get(type.getContext(), 64);
  if (type.isIntOrFloat() || isa<ComplexType>(type))
    return RankedTensorType::get({}, type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor : RankedTensorType();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Costs are counted in sixteenths of a byte that is written forward and read
/// backward.
static constexpr int64_t kByte = 16;
/// What it costs to hand over one more tensor, however small.
static constexpr int64_t kResidual = 1024 * kByte;
/// Sizes that are not known, and values that only code could hand over.
static constexpr int64_t kLarge = int64_t(1) << 50;

static int64_t getNumElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 1;
  return shaped.hasStaticShape() ? shaped.getNumElements() : kLarge;
}

static int64_t getBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t scale = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    scale = 2;
  }
  if (element.isIndex())
    return std::min(getNumElements(type), kLarge / (kByte * 32)) * 8;
  if (!element.isIntOrFloat())
    return kLarge / kByte;
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return std::min(getNumElements(type), kLarge / (kByte * 32)) * bytes * scale;
}

/// The cost of one scalar op of an elementwise computation, or none when it
/// may not be repeated.
static std::optional<int64_t> getScalarCost(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::ConstantLike>() || isa<linalg::IndexOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp,
          arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return kByte;
  if (isa<math::PowFOp, math::Atan2Op>(op))
    return 8 * kByte;
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::FmaOp,
          math::CopySignOp, math::RoundOp, math::RoundEvenOp, math::TruncOp,
          arith::SelectOp>(op) ||
      isa<arith::ArithDialect>(op->getDialect()))
    return kByte / 4;
  if (isa<math::MathDialect>(op->getDialect()))
    return 4 * kByte;
  return std::nullopt;
}

/// What it costs to compute `op` again, or none when that is out of the
/// question.
static std::optional<int64_t> getWork(Operation *op) {
  if (!isMemoryEffectFree(op))
    return std::nullopt;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
          tensor::ExtractSliceOp, tensor::CastOp, tensor::EmptyOp,
          tensor::ExtractOp, tensor::DimOp, StopGradientOp, PromoteOp, LeafOp,
          ValueOfOp, AfterOp>(op))
    return kByte;
  if (isa<tensor::PadOp, tensor::ConcatOp, tensor::InsertSliceOp>(op))
    return getBytes(op->getResult(0).getType()) * kByte;
  if (isa<tensor::SplatOp, tensor::FromElementsOp>(op))
    return getNumElements(op->getResult(0).getType()) * kByte / 4;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
    if (linalgOp.getNumReductionLoops() != 0 ||
        ShapedType::isDynamicShape(ranges))
      return std::nullopt;
    int64_t points = 1, each = kByte / 16;
    for (int64_t range : ranges)
      points *= range;
    for (Operation &inner : *linalgOp.getBlock()) {
      std::optional<int64_t> cost = getScalarCost(&inner);
      if (!cost)
        return std::nullopt;
      each += *cost;
    }
    return points * each;
  }
  if (op->getNumRegions() != 0 || op->getNumResults() == 0)
    return std::nullopt;
  std::optional<int64_t> cost = getScalarCost(op);
  if (!cost)
    return std::nullopt;
  return *cost * getNumElements(op->getResult(0).getType());
}

/// True when the reader of `operand` reads it many times, so that it has to be
/// in memory.
static bool needsMemory(OpOperand &operand) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!linalgOp)
    return false;
  AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
  return linalgOp.getNumReductionLoops() != 0 &&
         map.getNumResults() < linalgOp.getNumLoops();
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

namespace {
class Cut {
public:
  explicit Cut(const ResidualProblem &problem)
      : problem(problem), source(network.addNode()), sink(network.addNode()) {}

  llvm::DenseSet<Value> run() {
    findReads();
    for (Value value : read)
      network.addEdge(getNode(value), sink, FlowNetwork::kInfinite);
    // Grows while ops and their operands are added.
    for (size_t i = 0; i < values.size(); ++i)
      addProducer(values[i]);
    llvm::BitVector forward = network.cut(source, sink);
    llvm::DenseSet<Value> saved;
    for (Value value : values) {
      Operation *op = value.getDefiningOp();
      if (!forward.test(valueNodes.lookup(value)) &&
          (!op || forward.test(opNodes.lookup(op))))
        saved.insert(value);
    }
    return saved;
  }

private:
  /// Early values that late ops read.
  void findReads() {
    auto visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (problem.isEarly(value) && !(op && isFree(op)))
        read.insert(value);
    };
    for (Operation &op : problem.block.without_terminator()) {
      if (op.getNumResults() != 0 && problem.isEarly(op.getResult(0)))
        continue;
      if (op.getNumResults() == 0 && problem.runsForward(&op))
        continue;
      llvm::for_each(getReadValues(&op), visit);
    }
    llvm::for_each(problem.gradients, visit);
  }

  unsigned getNode(Value value) {
    auto [at, isNew] = valueNodes.try_emplace(value, 0);
    if (isNew) {
      at->second = network.addNode();
      values.push_back(value);
    }
    return at->second;
  }

  /// What it costs to save `value`. What is there anyhow costs nothing where
  /// it is read anyhow; elsewhere it would be one more tensor that may not
  /// change between the calls.
  int64_t getPrice(Value value) {
    if (!getResidualType(value.getType()))
      return FlowNetwork::kInfinite;
    auto argument = dyn_cast<BlockArgument>(value);
    bool isThere =
        argument ? problem.isKept(argument) : problem.isReturned(value);
    if (isThere && read.contains(value))
      return 0;
    return kResidual + getBytes(value.getType()) * kByte;
  }

  void addProducer(Value value) {
    Operation *op = value.getDefiningOp();
    unsigned node = getNode(value);
    if (!op) {
      network.addEdge(source, node, getPrice(value));
      return;
    }
    auto [at, isNew] = opNodes.try_emplace(op, 0);
    if (isNew) {
      unsigned opNode = at->second = network.addNode();
      network.addEdge(source, opNode, getWorkTwice(op));
      for (Value operand : getReadValues(op))
        if (!operand.getDefiningOp() || !isFree(operand.getDefiningOp()))
          network.addEdge(getNode(operand), opNode, FlowNetwork::kInfinite);
    }
    network.addEdge(opNodes.lookup(op), node, getPrice(value));
  }

  /// What is lost when `op` runs in the backward function.
  int64_t getWorkTwice(Operation *op) {
    std::optional<int64_t> work = getWork(op);
    if (!problem.runsForward(op))
      return 0;
    if (!work)
      return llvm::all_of(op->getResultTypes(), getResidualType)
                 ? FlowNetwork::kInfinite
                 : kLarge;
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUses(), [&](OpOperand &use) {
            Operation *user = use.getOwner();
            return user->getNumResults() != 0 &&
                   !problem.isEarly(user->getResult(0)) && needsMemory(use);
          }))
        *work += getBytes(result.getType()) * kByte / 2;
    // Of two equal choices, take the one that does less.
    return *work + 1;
  }

  const ResidualProblem &problem;
  FlowNetwork network;
  unsigned source, sink;
  llvm::SetVector<Value> read;
  /// The early values that matter.
  SmallVector<Value> values;
  DenseMap<Value, unsigned> valueNodes;
  DenseMap<Operation *, unsigned> opNodes;
};
} // namespace

llvm::DenseSet<Value>
mlir::grad::chooseResiduals(const ResidualProblem &problem) {
  return Cut(problem).run();
}

//===- FuseElementwise.cpp - Ops over one domain as one op ----------------===//
//
// A group is a set of ops that iterate over the same domain and hand values to
// each other point by point. Ops are visited in order and join the group of a
// producer, or of an op that reads the same tensor, unless that would make the
// group depend on itself through an op outside. To know that, every value
// carries the set of groups it depends on, as one machine word: when the word
// is full, the groups are emitted and a new set begins. Everything is linear in
// the number of ops, and bodies are bounded.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/Contraction.h"
#include "Lower/CPU/FusedGroup.h"
#include "Lower/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

/// True when `op` may be part of a group: on static tensors, every output
/// indexed by the loops themselves or a subset of them, and not a contraction.
static bool isCandidate(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      ShapedType::isDynamicShape(op.getStaticLoopRanges()) || isGemmLike(op))
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isIdentity() || map.isProjectedPermutation();
  });
}

/// Gives `op` a fresh tensor for each init that it does not read: some
/// conversions name an operand there, which would look like a dependence.
static void releaseInits(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  OpBuilder builder(op);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto type = cast<RankedTensorType>(init.get().getType());
    if (!op.payloadUsesValueFromOperand(&init) && type.hasStaticShape() &&
        !init.get().getDefiningOp<tensor::EmptyOp>())
      init.set(tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                       type.getElementType()));
  }
}

namespace {
struct Group {
  SmallVector<linalg::GenericOp> members;
  SmallVector<int64_t> domain;
  int64_t bodyOps = 0;
  llvm::SmallSetVector<Value, 8> inputs;
  /// The groups that this one depends on, transitively.
  uint64_t dependencies = 0;
};

/// Forms groups in one block.
class Fuser {
public:
  Fuser(Block &block, int64_t maxBodyOps, int64_t maxOperands)
      : block(block), maxBodyOps(maxBodyOps), maxOperands(maxOperands) {}

  int64_t run();

private:
  static constexpr unsigned kMaxGroups = 64;

  /// `groups` and everything they depend on.
  uint64_t closure(uint64_t groups) const {
    uint64_t result = groups;
    for (unsigned i = 0; i < this->groups.size(); ++i)
      if (groups >> i & 1)
        result |= this->groups[i].dependencies;
    return result;
  }
  uint64_t dependenciesOf(Operation *op) const;
  bool canJoin(linalg::GenericOp op, unsigned index) const;
  std::optional<unsigned> findGroup(linalg::GenericOp op) const;
  void join(linalg::GenericOp op, unsigned index);
  void visit(Operation &op);
  void flush();

  Block &block;
  int64_t maxBodyOps, maxOperands;
  int64_t numFused = 0;
  SmallVector<Group, 0> groups;
  DenseMap<Operation *, unsigned> groupOf;
  /// Groups that an op outside of any group depends on.
  DenseMap<Operation *, uint64_t> outsiders;
  /// The last group that reads a value.
  DenseMap<Value, unsigned> lastReader;
};
} // namespace

/// The groups that `op` depends on, including those it reads from directly.
uint64_t Fuser::dependenciesOf(Operation *op) const {
  uint64_t result = 0;
  auto add = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!producer)
      return;
    // A value from an enclosing region, or defined within `op`, is found as
    // an op of this block.
    producer = block.findAncestorOpInBlock(*producer);
    if (!producer || producer == op)
      return;
    if (auto it = groupOf.find(producer); it != groupOf.end())
      result |= uint64_t(1) << it->second;
    else
      result |= outsiders.lookup(producer);
  };
  for (Value operand : op->getOperands())
    add(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand);
    });
  return closure(result);
}

bool Fuser::canJoin(linalg::GenericOp op, unsigned index) const {
  const Group &group = groups[index];
  if (ArrayRef<int64_t>(group.domain) != ArrayRef(op.getStaticLoopRanges()))
    return false;
  int64_t bodyOps = op.getRegion().front().getOperations().size();
  if (group.bodyOps + bodyOps > maxBodyOps ||
      static_cast<int64_t>(group.inputs.size() + group.members.size() +
                           op->getNumOperands()) > maxOperands)
    return false;
  uint64_t self = uint64_t(1) << index;
  auto reaches = [&](Value value, OpOperand *operand) {
    Operation *producer = value.getDefiningOp();
    producer = producer ? block.findAncestorOpInBlock(*producer) : nullptr;
    if (!producer)
      return false;
    auto it = groupOf.find(producer);
    if (it == groupOf.end())
      return (closure(outsiders.lookup(producer)) & self) != 0;
    if (it->second == index)
      return !operand || !isPointwise(op, operand);
    return (groups[it->second].dependencies & self) != 0;
  };
  for (OpOperand &operand : op->getOpOperands())
    if (reaches(operand.get(), &operand))
      return false;
  bool captures = false;
  op.getRegion().walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      captures |= operand.getParentRegion() != &op.getRegion() &&
                  !op.getRegion().isAncestor(operand.getParentRegion()) &&
                  reaches(operand, nullptr);
  });
  return !captures;
}

std::optional<unsigned> Fuser::findGroup(linalg::GenericOp op) const {
  for (OpOperand *input : op.getDpsInputOperands())
    if (Operation *producer = input->get().getDefiningOp())
      if (auto it = groupOf.find(producer);
          it != groupOf.end() && canJoin(op, it->second))
        return it->second;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto it = lastReader.find(input->get());
        it != lastReader.end() && canJoin(op, it->second))
      return it->second;
  return std::nullopt;
}

void Fuser::join(linalg::GenericOp op, unsigned index) {
  Group &group = groups[index];
  uint64_t self = uint64_t(1) << index;
  uint64_t added = dependenciesOf(op) & ~self;
  group.members.push_back(op);
  group.bodyOps += op.getRegion().front().getOperations().size();
  group.dependencies |= added;
  for (Group &other : groups)
    if (other.dependencies & self)
      other.dependencies |= group.dependencies;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto it = groupOf.find(input->get().getDefiningOp());
    if (!input->get().getDefiningOp() || it == groupOf.end() ||
        it->second != index)
      group.inputs.insert(input->get());
    lastReader[input->get()] = index;
  }
  groupOf[op] = index;
}

void Fuser::visit(Operation &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isCandidate(generic)) {
    outsiders[&op] = dependenciesOf(&op);
    return;
  }
  if (std::optional<unsigned> index = findGroup(generic))
    return join(generic, *index);
  if (groups.size() == kMaxGroups)
    flush();
  groups.push_back({});
  groups.back().domain = generic.getStaticLoopRanges();
  join(generic, groups.size() - 1);
}

int64_t Fuser::run() {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    visit(op);
  flush();
  if (numFused != 0)
    sortTopologically(&block);
  return numFused;
}

void Fuser::flush() {
  for (Group &group : groups)
    numFused += emitFusedGroup(group.members, group.domain);
  groups.clear();
  groupOf.clear();
  outsiders.clear();
  lastReader.clear();
}

namespace {
struct FuseElementwisePass
    : grad::impl::FuseElementwisePassBase<FuseElementwisePass> {
  using FuseElementwisePassBase::FuseElementwisePassBase;

  void runOnOperation() override {
    getOperation().walk([](linalg::GenericOp op) { releaseInits(op); });
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      numFused += Fuser(*block, maxBodyOps, maxOperands).run();
  }
};
} // namespace

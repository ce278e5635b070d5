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

/// The value that every element of `tensor` has, as a scalar that may be used
/// at `builder`, or null.
static Value getUniformScalar(OpBuilder &builder, Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  SplatElementsAttr splat;
  if (!matchPattern(tensor, m_Constant(&splat)))
    return Value();
  auto value = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (!value || !isa<FloatType, IntegerType, IndexType>(value.getType()))
    return Value();
  return arith::ConstantOp::create(builder, tensor.getLoc(), value);
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
  void emit(Group &group);

  Block &block;
  int64_t maxBodyOps, maxOperands;
  int64_t numFused = 0;
  bool reordered = false;
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

/// True when `operand` of `op` reads point by point what a member of a group
/// writes point by point.
static bool isPointwise(linalg::GenericOp op, OpOperand *operand) {
  if (!op.isDpsInput(operand) ||
      !op.getMatchingIndexingMap(operand).isIdentity())
    return false;
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  return producer &&
         producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()))
             .isIdentity();
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
  if (reordered)
    sortTopologically(&block);
  return numFused;
}

void Fuser::flush() {
  for (Group &group : groups)
    emit(group);
  groups.clear();
  groupOf.clear();
  outsiders.clear();
  lastReader.clear();
}

void Fuser::emit(Group &group) {
  // One op alone gains something only when an operand is uniform.
  if (group.members.size() == 1 &&
      llvm::none_of(group.members[0].getInputs(), [](Value input) {
        return input.getDefiningOp<linalg::FillOp>() ||
               matchPattern(input, m_Constant());
      }))
    return;
  linalg::GenericOp last = group.members.back();
  IRRewriter rewriter(last);
  llvm::SmallPtrSet<Operation *, 8> members(llvm::from_range, group.members);

  // Operands: inputs that differ in value or map, then the outputs that
  // somebody outside reads.
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> inputMaps, initMaps;
  SmallVector<std::pair<linalg::GenericOp, unsigned>> outputs;
  SmallVector<SmallVector<unsigned>> inputIndex(group.members.size());
  DenseMap<std::pair<Value, AffineMap>, unsigned> known;
  DenseMap<Value, Value> uniform;
  constexpr unsigned kNone = ~0u;
  for (auto [m, member] : llvm::enumerate(group.members)) {
    for (OpOperand *input : member.getDpsInputOperands()) {
      Value value = input->get();
      inputIndex[m].push_back(kNone);
      if (value.getDefiningOp() && members.contains(value.getDefiningOp()))
        continue;
      if (!uniform.contains(value))
        uniform[value] = getUniformScalar(rewriter, value);
      if (uniform[value])
        continue;
      AffineMap map = member.getMatchingIndexingMap(input);
      auto [it, isNew] = known.try_emplace({value, map}, inputs.size());
      if (isNew) {
        inputs.push_back(value);
        inputMaps.push_back(map);
      }
      inputIndex[m].back() = it->second;
    }
    for (OpOperand &init : member.getDpsInitsMutable()) {
      OpResult result = member.getTiedOpResult(&init);
      bool isRead = member.payloadUsesValueFromOperand(&init);
      if (!isRead && llvm::all_of(result.getUsers(), [&](Operation *user) {
            return members.contains(user);
          }))
        continue;
      outputs.emplace_back(member, result.getResultNumber());
      inits.push_back(init.get());
      initMaps.push_back(member.getMatchingIndexingMap(&init));
    }
  }

  if (outputs.empty()) {
    // Nobody reads a result: what is left of the body may be assertions.
    outputs.emplace_back(last, 0);
    inits.push_back(last.getDpsInits()[0]);
    initMaps.push_back(last.getMatchingIndexingMap(last.getDpsInitOperand(0)));
  }

  SmallVector<utils::IteratorType> iterators(group.domain.size(),
                                             utils::IteratorType::parallel);
  for (linalg::GenericOp member : group.members)
    for (auto [i, iterator] : llvm::enumerate(member.getIteratorTypesArray()))
      if (iterator == utils::IteratorType::reduction)
        iterators[i] = iterator;

  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext()))) {
    // What gave a loop its bounds was handed over inside the group: a tensor
    // of the whole domain that nobody reads takes its place.
    inputs.push_back(tensor::EmptyOp::create(rewriter, last.getLoc(),
                                             group.domain,
                                             rewriter.getI8Type()));
    AffineMap identity =
        rewriter.getMultiDimIdentityMap(group.domain.size());
    maps.insert(maps.begin() + inputMaps.size(), identity);
    inputMaps.push_back(identity);
  }
  SmallVector<Location> locations;
  for (linalg::GenericOp member : group.members)
    if (!llvm::is_contained(locations, member.getLoc()) && locations.size() < 8)
      locations.push_back(member.getLoc());
  auto fused = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc(locations), TypeRange(ValueRange(inits)),
      inputs, inits, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        IRMapping mapping;
        DenseMap<Value, Value> computed;
        for (auto [m, member] : llvm::enumerate(group.members)) {
          Block &body = member.getRegion().front();
          for (auto [i, input] : llvm::enumerate(member.getInputs())) {
            unsigned index = inputIndex[m][i];
            mapping.map(body.getArgument(i), index != kNone ? args[index]
                                             : computed.lookup(input)
                                                 ? computed.lookup(input)
                                                 : uniform.lookup(input));
          }
          for (auto [i, output] : llvm::enumerate(outputs))
            if (output.first == member)
              mapping.map(
                  body.getArgument(member.getNumDpsInputs() + output.second),
                  args[inputs.size() + i]);
          for (Operation &op : body.without_terminator())
            builder.clone(op, mapping);
          for (auto [result, yielded] : llvm::zip(
                   member.getResults(), body.getTerminator()->getOperands()))
            computed[result] = mapping.lookupOrDefault(yielded);
        }
        SmallVector<Value> yielded;
        for (auto [member, index] : outputs)
          yielded.push_back(computed[member.getResult(index)]);
        linalg::YieldOp::create(builder, last.getLoc(), yielded);
      });
  for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
    rewriter.replaceAllUsesWith(output.first.getResult(output.second), result);
  for (linalg::GenericOp member : llvm::reverse(group.members))
    rewriter.eraseOp(member);
  numFused += group.members.size();
  reordered = true;
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

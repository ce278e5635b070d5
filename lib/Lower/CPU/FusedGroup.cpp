//===- FusedGroup.cpp - A group of ops as one op --------------------------===//
//
// The operands of the fused op are the inputs of its members that come from
// outside and differ in value or map, and a destination for each value that is
// used outside. A chain of updates within the group, acc + a, then that + b,
// is one update of where the chain starts from.
//
//===----------------------------------------------------------------------===//

#include "Lower/CPU/FusedGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;
using linalg::GenericOp;

bool grad::isPointwise(GenericOp op, OpOperand *operand) {
  if (!op.getMatchingIndexingMap(operand).isIdentity())
    return false;
  auto producer = operand->get().getDefiningOp<GenericOp>();
  return producer &&
         producer.getIndexingMapMatchingResult(cast<OpResult>(operand->get()))
             .isIdentity();
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

namespace {
class GroupEmitter {
public:
  GroupEmitter(ArrayRef<GenericOp> members, ArrayRef<int64_t> domain)
      : members(members), domain(domain), last(members.back()), rewriter(last),
        memberSet(members.begin(), members.end()) {}

  void run();

private:
  bool isInside(Value value) const {
    return value.getDefiningOp() && memberSet.contains(value.getDefiningOp());
  }
  Value getUniform(Value value) {
    auto [it, isNew] = uniform.try_emplace(value);
    if (isNew)
      it->second = getUniformScalar(rewriter, value);
    return it->second;
  }
  Value createEmpty(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor::EmptyOp::create(rewriter, last.getLoc(), tensor.getShape(),
                                   tensor.getElementType());
  }

  void addInput(GenericOp member, OpOperand &operand);
  void addOutput(GenericOp member, OpOperand &init);
  void addOutputs(GenericOp member);
  void addDomain();
  void buildBody(OpBuilder &builder, ValueRange args);

  ArrayRef<GenericOp> members;
  ArrayRef<int64_t> domain;
  GenericOp last;
  IRRewriter rewriter;
  llvm::SmallPtrSet<Operation *, 8> memberSet;
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> inputMaps, initMaps;
  SmallVector<OpResult> outputs;
  /// The operands of members that an operand of the fused op stands for.
  DenseMap<OpOperand *, unsigned> inputOf, initOf;
  DenseMap<std::pair<Value, AffineMap>, unsigned> known;
  DenseMap<Value, Value> uniform;
};
} // namespace

/// True when `init` is the value before an update of each element.
static bool isUpdated(GenericOp op, OpOperand &init) {
  return op.payloadUsesValueFromOperand(&init) &&
         op.getMatchingIndexingMap(&init).isIdentity();
}

void GroupEmitter::addInput(GenericOp member, OpOperand &operand) {
  Value value = operand.get();
  if (isInside(value) || getUniform(value))
    return;
  AffineMap map = member.getMatchingIndexingMap(&operand);
  auto [it, isNew] = known.try_emplace({value, map}, inputs.size());
  if (isNew) {
    inputs.push_back(value);
    inputMaps.push_back(map);
  }
  inputOf[&operand] = it->second;
}

/// Makes the result that `init` is the destination of one of the fused op.
void GroupEmitter::addOutput(GenericOp member, OpOperand &init) {
  OpOperand *start = &init;
  GenericOp updater = member;
  while (isInside(start->get()) && start->get().hasOneUse()) {
    auto updated = cast<OpResult>(start->get());
    updater = cast<GenericOp>(updated.getOwner());
    start = updater.getTiedOpOperand(updated);
  }
  Value destination = start->get();
  if (isInside(destination) ||
      (isUpdated(updater, *start) && getUniform(destination)))
    destination = createEmpty(destination.getType());
  else
    initOf[start] = inits.size();
  inits.push_back(destination);
  initMaps.push_back(member.getMatchingIndexingMap(&init));
  outputs.push_back(member.getTiedOpResult(&init));
}

void GroupEmitter::addOutputs(GenericOp member) {
  for (OpOperand &init : member.getDpsInitsMutable()) {
    bool isUsedOutside = llvm::any_of(
        member.getTiedOpResult(&init).getUsers(),
        [&](Operation *user) { return !memberSet.contains(user); });
    if (isUsedOutside ||
        (member.payloadUsesValueFromOperand(&init) && !isUpdated(member, init)))
      addOutput(member, init);
  }
}

/// Adds what gives every loop its bounds, if what did so was handed over inside
/// the group: a tensor of the whole domain that nobody reads.
void GroupEmitter::addDomain() {
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  if (inversePermutation(concatAffineMaps(maps, rewriter.getContext())))
    return;
  inputs.push_back(tensor::EmptyOp::create(rewriter, last.getLoc(), domain,
                                           rewriter.getI8Type()));
  inputMaps.push_back(rewriter.getMultiDimIdentityMap(domain.size()));
}

void GroupEmitter::buildBody(OpBuilder &builder, ValueRange args) {
  IRMapping mapping;
  DenseMap<Value, Value> computed;
  auto getArgument = [&](OpOperand &operand) {
    if (auto it = inputOf.find(&operand); it != inputOf.end())
      return args[it->second];
    if (auto it = initOf.find(&operand); it != initOf.end())
      return args[inputs.size() + it->second];
    Value value = computed.lookup(operand.get());
    return value ? value : uniform.lookup(operand.get());
  };
  for (GenericOp member : members) {
    Block &body = member.getRegion().front();
    for (OpOperand &operand : member->getOpOperands())
      mapping.map(body.getArgument(operand.getOperandNumber()),
                  getArgument(operand));
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, yielded] :
         llvm::zip(member.getResults(), body.getTerminator()->getOperands()))
      computed[result] = mapping.lookupOrDefault(yielded);
  }
  SmallVector<Value> yielded;
  for (OpResult output : outputs)
    yielded.push_back(computed[output]);
  linalg::YieldOp::create(builder, last.getLoc(), yielded);
}

void GroupEmitter::run() {
  for (GenericOp member : members)
    addOutputs(member);
  // Nobody reads a result: what is left of the body may be assertions.
  if (outputs.empty()) {
    addOutput(last, *last.getDpsInitOperand(0));
  }
  for (GenericOp member : members) {
    for (OpOperand *input : member.getDpsInputOperands())
      addInput(member, *input);
    for (OpOperand &init : member.getDpsInitsMutable())
      if (isUpdated(member, init) && !initOf.contains(&init))
        addInput(member, init);
  }
  addDomain();

  SmallVector<utils::IteratorType> iterators(domain.size(),
                                             utils::IteratorType::parallel);
  SmallVector<Location> locations;
  for (GenericOp member : members) {
    for (auto [i, iterator] : llvm::enumerate(member.getIteratorTypesArray()))
      if (iterator == utils::IteratorType::reduction)
        iterators[i] = iterator;
    if (!llvm::is_contained(locations, member.getLoc()) && locations.size() < 8)
      locations.push_back(member.getLoc());
  }
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  auto fused = GenericOp::create(
      rewriter, rewriter.getFusedLoc(locations), TypeRange(ValueRange(inits)),
      inputs, inits, maps, iterators,
      [&](OpBuilder &builder, Location, ValueRange args) {
        buildBody(builder, args);
      });
  for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
    rewriter.replaceAllUsesWith(output, result);
  for (GenericOp member : llvm::reverse(members))
    rewriter.eraseOp(member);
}

int64_t grad::emitFusedGroup(ArrayRef<GenericOp> members,
                             ArrayRef<int64_t> domain) {
  // One op alone gains something only when an operand is uniform.
  GenericOp first = members.front();
  if (members.size() == 1 && llvm::none_of(first.getInputs(), [](Value input) {
        return input.getDefiningOp<linalg::FillOp>() ||
               matchPattern(input, m_Constant());
      }))
    return 0;
  GroupEmitter(members, domain).run();
  return members.size();
}

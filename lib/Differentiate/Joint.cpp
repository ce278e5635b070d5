//===- Joint.cpp - Functions to partition ---------------------------------===//
//
// A tape needs the forward and the backward part of one function as two. They
// are made from a joint function, so that what is computed for both is known
// to be the same; this file makes the joint function, Partition.cpp splits it.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/Joint.h"
#include "Analysis/CarriesGradient.h"
#include "Analysis/GradientAnalysis.h"
#include "CustomRules.h"
#include "Differentiate/LowerRegions.h"
#include "Differentiate/Passes.h"
#include "Differentiate/ResidualCut.h"
#include "Differentiate/Transforms.h"
#include "Rules/TensorUtils.h"

namespace mlir::grad {
#define GEN_PASS_DEF_JOINTPASS
#include "Differentiate/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

LogicalResult mlir::grad::checkNameIsFree(Operation *op, StringRef name) {
  Operation *other = SymbolTable::lookupSymbolIn(op->getParentOp(), name);
  if (!other)
    return success();
  InFlightDiagnostic diag = op->emitOpError("needs the name '")
                            << name << "' for a function made from it";
  diag.attachNote(other->getLoc()) << "rename this one, which has it already";
  return diag;
}

/// Results of the function that get a cotangent and arguments that get a
/// gradient.
struct Connection {
  SmallVector<int64_t> results, arguments;
};

/// The operands of `call` that get a gradient when a result does. Only a tape
/// tells none from zeros, so no other analysis asks.
static llvm::BitVector getReaching(CallOpInterface call,
                                   const llvm::BitVector &results) {
  llvm::BitVector reaching(call->getNumOperands(),
                           results.any() && !isUnderNoGrad(call));
  auto callee = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
  for (unsigned number : llvm::seq(callee ? callee.getNumArguments() : 0))
    if (callee.getArgAttr(number, kNoGradientArg))
      reaching.reset(number);
  return reaching;
}

static FailureOr<Connection> findConnection(TransformExpander &expander,
                                            func::FuncOp func) {
  FailureOr<func::FuncOp> copy = expander.prepare(func, ".roots");
  if (failed(copy))
    return failure();
  SmallVector<Value> roots, outputs;
  for (BlockArgument argument : copy->getArguments())
    if (func.getArgAttr(argument.getArgNumber(), kRequiresGradArg))
      roots.push_back(argument);
  for (Value value : getReturned(*copy))
    if (isDifferentiableType(value.getType()))
      outputs.push_back(value);
  FailureOr<GradientAnalysis> analysis = GradientAnalysis::compute(
      *copy, roots, outputs, {/*requiresGrad=*/{}, getReaching});
  Connection connection;
  if (succeeded(analysis)) {
    for (auto [number, value] : llvm::enumerate(getReturned(*copy)))
      if (analysis->requiresGrad(value))
        connection.results.push_back(number);
    for (Value root : roots)
      if (analysis->needsGradient(root))
        connection.arguments.push_back(
            cast<BlockArgument>(root).getArgNumber());
  }
  expander.erase(*copy);
  if (failed(analysis))
    return failure();
  if (connection.results.empty() || connection.arguments.empty())
    return connection;
  for (Type type : func.getResultTypes())
    if (isDifferentiableType(type) && !hasZeros(withRequiresGrad(type, false)))
      return func.emitOpError("returns a value of type ")
             << type << ", which has no derivative rule";
  return connection;
}

static void buildJoint(func::FuncOp func, const Connection &connection) {
  OpBuilder builder(func);
  builder.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  FunctionType type = func.getFunctionType();
  SmallVector<Type> inputs(type.getInputs()), results(type.getResults());
  for (int64_t number : connection.results)
    inputs.push_back(type.getResult(number));
  for (int64_t number : connection.arguments)
    results.push_back(type.getInput(number));
  auto joint =
      func::FuncOp::create(builder, loc, (func.getName() + ".joint").str(),
                           builder.getFunctionType(inputs, results));
  for (unsigned i = 0; i < type.getNumInputs(); ++i)
    for (StringRef kept : {kNameArg, kTemporaryArg})
      if (Attribute attribute = func.getArgAttr(i, kept))
        joint.setArgAttr(i, kept, attribute);
  joint->setAttr(kCotangentsAttr,
                 builder.getDenseI64ArrayAttr(connection.results));
  joint->setAttr(kGradientsAttr,
                 builder.getDenseI64ArrayAttr(connection.arguments));

  Block *block = joint.addEntryBlock();
  builder.setInsertionPointToStart(block);
  ValueRange primals = block->getArguments().take_front(type.getNumInputs());
  ArrayRef<BlockArgument> given =
      block->getArguments().drop_front(type.getNumInputs());
  SmallVector<Value> cotangents;
  for (auto [number, result] : llvm::enumerate(type.getResults())) {
    if (!isDifferentiableType(result))
      continue;
    auto at = llvm::find(connection.results, static_cast<int64_t>(number));
    if (at == connection.results.end())
      cotangents.push_back(zeros(builder, loc, result));
    else
      cotangents.push_back(given[at - connection.results.begin()]);
  }
  auto vjp = VjpOp::create(builder, loc, results, func.getName(), primals,
                           cotangents, connection.arguments);
  func::ReturnOp::create(builder, loc, vjp.getResults());
}

namespace {
struct JointPass : grad::impl::JointPassBase<JointPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    specializeCallsUnderNoGrad(module);
    lowerGradRegions(module);
    TransformExpander expander(module);
    SmallVector<func::FuncOp> funcs(module.getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      auto isRoot = [&](unsigned number) {
        return func.getArgAttr(number, kRequiresGradArg) != nullptr;
      };
      if (func.isExternal() ||
          llvm::none_of(llvm::seq(func.getNumArguments()), isRoot))
        continue;
      FailureOr<Connection> connection = findConnection(expander, func);
      if (failed(connection))
        return signalPassFailure();
      if (connection->results.empty() || connection->arguments.empty())
        continue;
      if (failed(checkNameIsFree(func, (func.getName() + ".joint").str())))
        return signalPassFailure();
      buildJoint(func, *connection);
      func.setPrivate();
    }
  }
};
} // namespace

//===- FuncRules.cpp - Derivatives of calls -------------------------------===//
//
// A call is differentiated as it stands only when its callee has a custom rule;
// every other call is inlined. A custom JVP is linear in the tangents, so
// reverse mode is its transpose, which is its own VJP with respect to them. It
// does not depend on the tangents: zeros do.
//
//===----------------------------------------------------------------------===//

#include "CustomRules.h"
#include "GradDialect.h"
#include "Rules/Rules.h"
#include "Rules/TensorUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::grad;

static func::FuncOp lookup(Operation *op, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
}

/// The function that `call` calls, if it has a custom rule. A call in the
/// scalar body of an op that is being built is in no module yet and has none.
static func::FuncOp lookupCustom(func::CallOp call) {
  if (!call->getParentOfType<ModuleOp>())
    return {};
  func::FuncOp callee = lookup(call, call.getCalleeAttr());
  return callee && CustomRule(callee) ? callee : func::FuncOp();
}

static SmallVector<Value> getDifferentiable(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) {
    return isDifferentiableType(value.getType());
  });
}

/// One cotangent for each result that has one, zeros where it is zero. Empty
/// when all are.
static SmallVector<Value> getCotangents(func::CallOp call, VjpBuilder &vjp) {
  SmallVector<Value> results = getDifferentiable(call.getResults()), cotangents;
  if (llvm::none_of(results,
                    [&](Value result) { return vjp.cotangent(result); }))
    return {};
  for (Value result : results) {
    Value cotangent = vjp.cotangent(result);
    cotangents.push_back(cotangent
                             ? cotangent
                             : zerosLike(vjp.builder(), call.getLoc(), result));
  }
  return cotangents;
}

static LogicalResult transposeJvp(func::CallOp call, func::FuncOp rule,
                                  ArrayRef<Value> cotangents, VjpBuilder &vjp) {
  OpBuilder &b = vjp.builder();
  Location loc = call.getLoc();
  SmallVector<Value> primals(call.getOperands()), wanted;
  SmallVector<int64_t> wrt;
  for (Value operand : getDifferentiable(call.getOperands())) {
    if (vjp.needs(operand)) {
      wanted.push_back(operand);
      wrt.push_back(primals.size());
    }
    primals.push_back(zerosLike(b, loc, operand));
  }
  SmallVector<Value> seeds;
  for (Value result : getDifferentiable(call.getResults()))
    seeds.push_back(zerosLike(b, loc, result));
  llvm::append_range(seeds, cotangents);
  SmallVector<Type> types(rule.getResultTypes());
  llvm::append_range(types, ValueRange(wanted).getTypes());
  auto transposed =
      VjpOp::create(b, loc, types, rule.getName(), primals, seeds, wrt);
  for (auto [operand, gradient] : llvm::zip_equal(
           wanted, transposed.getResults().take_back(wanted.size())))
    vjp.accumulate(operand, gradient);
  return success();
}

/// The residuals of `call`. Those that are arguments or results of the function
/// are those of the call; the forward function is called for others.
static SmallVector<Value> getResiduals(func::CallOp call, func::FuncOp forward,
                                       OpBuilder &b) {
  SmallVector<Value> residuals(forward.getNumResults() - call.getNumResults());
  bool isKnown = !forward.isExternal() && forward.getBody().hasOneBlock();
  if (isKnown) {
    OperandRange returned =
        forward.getBody().front().getTerminator()->getOperands();
    auto results = returned.take_front(call.getNumResults());
    for (auto [residual, value] : llvm::zip_equal(
             residuals, returned.drop_front(call.getNumResults()))) {
      auto same = llvm::find(results, value);
      if (auto argument = dyn_cast<BlockArgument>(value))
        residual = call.getOperand(argument.getArgNumber());
      else if (same != results.end())
        residual = call.getResult(same - results.begin());
    }
  }
  if (llvm::all_of(residuals, [](Value value) { return value; }))
    return residuals;
  OpBuilder::InsertionGuard guard(b);
  // Where the function runs, so that they are computed once.
  if (b.getInsertionBlock() == call->getBlock())
    b.setInsertionPointAfter(call);
  auto computed =
      func::CallOp::create(b, call.getLoc(), forward, call.getOperands());
  for (auto [residual, value] : llvm::zip_equal(
           residuals, computed.getResults().drop_front(call.getNumResults())))
    if (!residual)
      residual = value;
  return residuals;
}

namespace {
struct Call : DifferentiableOpInterface::ExternalModel<Call, func::CallOp> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    auto call = cast<func::CallOp>(op);
    func::FuncOp callee = lookupCustom(call);
    if (!callee)
      return emitNoDerivativeRule(op, {});
    CustomRule rule(callee);
    SmallVector<Value> cotangents = getCotangents(call, vjp);
    if (cotangents.empty())
      return success();
    if (!rule.backward)
      return transposeJvp(call, lookup(op, rule.jvp), cotangents, vjp);

    OpBuilder &b = vjp.builder();
    SmallVector<Value> operands =
        getResiduals(call, lookup(op, rule.forward), b);
    llvm::append_range(operands, cotangents);
    auto gradients = func::CallOp::create(b, call.getLoc(),
                                          lookup(op, rule.backward), operands);
    for (auto [operand, gradient] : llvm::zip_equal(
             getDifferentiable(call.getOperands()), gradients.getResults()))
      vjp.accumulate(operand, gradient);
    return success();
  }

  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    auto call = cast<func::CallOp>(op);
    func::FuncOp callee = lookupCustom(call);
    if (!callee)
      return emitNoDerivativeRule(op, {});
    CustomRule rule(callee);
    if (!rule.jvp) {
      InFlightDiagnostic diag = op->emitOpError("has no forward-mode rule: '")
                                << callee.getName()
                                << "' has a custom rule for reverse mode only";
      diag.attachNote(callee.getLoc())
          << "give it a " << kCustomJvpAttr << ", which serves both modes";
      return diag;
    }
    OpBuilder &b = jvp.builder();
    SmallVector<Value> operands(call.getOperands());
    for (Value operand : getDifferentiable(call.getOperands())) {
      Value tangent = jvp.tangent(operand);
      operands.push_back(tangent ? tangent
                                 : zerosLike(b, call.getLoc(), operand));
    }
    auto pushed =
        func::CallOp::create(b, call.getLoc(), lookup(op, rule.jvp), operands);
    for (auto [result, tangent] :
         llvm::zip_equal(getDifferentiable(call.getResults()),
                         pushed.getResults().drop_front(call.getNumResults())))
      jvp.setTangent(result, tangent);
    return success();
  }
};
} // namespace

static void attach(MLIRContext *context, func::FuncDialect *) {
  func::CallOp::attachInterface<Call>(*context);
}

void mlir::grad::registerFuncRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

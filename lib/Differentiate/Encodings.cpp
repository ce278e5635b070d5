//===- Encodings.cpp - Writing and erasing requires_grad types ------------===//

#include "Differentiate/Encodings.h"

#include "GradDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;
using namespace mlir::grad;

//===----------------------------------------------------------------------===//
// Erasing
//===----------------------------------------------------------------------===//

void mlir::grad::eraseEncodings(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    return withRequiresGrad(type, false);
  });
  // The type is part of the storage of dense elements, out of the replacer's
  // reach.
  replacer.addReplacement(
      [](DenseIntOrFPElementsAttr attr) -> std::optional<Attribute> {
        auto type = cast<ShapedType>(withRequiresGrad(attr.getType(), false));
        if (type == attr.getType())
          return attr;
        return attr.reshape(type);
      });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);

  root->walk([](Operation *op) {
    if (!isa<PromoteOp, tensor::CastOp>(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

static bool isMixedElementwise(Operation *op,
                               function_ref<bool(Value)> requiresGrad) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() == 0)
    return false;
  auto isTensor = [](Value value) {
    return isa<RankedTensorType>(value.getType());
  };
  SmallVector<Value> tensors;
  llvm::copy_if(op->getOperands(), std::back_inserter(tensors), isTensor);
  llvm::copy_if(op->getResults(), std::back_inserter(tensors), isTensor);
  return llvm::any_of(tensors, requiresGrad) &&
         !llvm::all_of(tensors, requiresGrad);
}

bool mlir::grad::convertMixedElementwise(
    FunctionOpInterface function, function_ref<bool(Value)> requiresGrad) {
  SmallVector<Operation *> mixed;
  function.walk([&](Operation *op) {
    if (isMixedElementwise(op, requiresGrad))
      mixed.push_back(op);
  });
  if (mixed.empty())
    return false;

  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(function.getContext());
  for (Operation *op : mixed) {
    rewriter.setInsertionPoint(op);
    (void)applicator.matchAndRewrite(op, rewriter);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static bool carries(Value value) { return hasRequiresGrad(value.getType()); }

void mlir::grad::convertOperand(OpOperand &operand, bool requiresGrad) {
  Value value = operand.get();
  if (!canHaveRequiresGrad(value.getType()) || carries(value) == requiresGrad)
    return;
  Type type = withRequiresGrad(value.getType(), requiresGrad);
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  if (empty && empty->hasOneUse()) {
    value.setType(cast<RankedTensorType>(type));
    return;
  }
  Operation *op = operand.getOwner();
  OpBuilder builder(op);
  // Nothing else may stand between the ops of a combining terminator.
  if (isa<InParallelOpInterface>(op->getParentOp()))
    builder.setInsertionPoint(op->getParentOp());
  if (requiresGrad)
    operand.set(PromoteOp::create(builder, op->getLoc(), type, value));
  else
    operand.set(StopGradientOp::create(builder, op->getLoc(), type, value));
}

/// What control flow forwards has the type of where it arrives. A value that
/// carries never arrives at one that does not, so this only promotes.
static void convertForwardedOperands(Operation *op) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchSuccessorMapping mapping;
    branch.getSuccessorOperandInputMapping(mapping);
    auto convert = [&](Operation *source) {
      for (OpOperand &operand : source->getOpOperands())
        for (Value input : mapping.lookup(&operand))
          if (carries(input))
            convertOperand(operand, true);
    };
    convert(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          convert(&block.back());
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (auto [index, block] : llvm::enumerate(op->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(index);
      unsigned produced = operands.getProducedOperandCount();
      for (unsigned i = produced, e = operands.size(); i < e; ++i)
        if (carries(block->getArgument(i)))
          convertOperand(op->getOpOperand(operands.getOperandIndex(i)), true);
    }
  }
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    for (auto [output, result] :
         llvm::zip_equal(forall.getOutputsMutable(), forall.getResults()))
      convertOperand(output, carries(result));
  if (auto parallel = dyn_cast<scf::ParallelOp>(op))
    for (auto [init, result] :
         llvm::zip_equal(parallel.getInitValsMutable(), parallel.getResults()))
      convertOperand(init, carries(result));
}

/// The init of an op in destination style has the type of the result.
static void convertInits(Operation *op) {
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return convertOperand(scatter.getInitMutable(), carries(scatter));
  auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinationStyle)
    return;
  // Not every result of such an op is tied: transfer_read has none that is.
  if (op->getNumResults() == destinationStyle.getNumDpsInits())
    for (OpResult result : op->getResults())
      convertOperand(*destinationStyle.getTiedOpOperand(result),
                     carries(result));
}

static bool verifies(Operation *op) {
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  return succeeded(op->getName().verifyInvariants(op));
}

/// Leaves `op` on plain types, with casts around it: a cast neither starts nor
/// stops a gradient.
static void castAround(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (carries(operand.get()))
      operand.set(tensor::CastOp::create(
          builder, op->getLoc(),
          withRequiresGrad(operand.get().getType(), false), operand.get()));
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Type type = result.getType();
    if (!carries(result))
      continue;
    result.setType(withRequiresGrad(type, false));
    auto cast = tensor::CastOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(cast, cast);
  }
}

/// Inserts what `op` needs to verify. Its own verifier says whether it minds
/// operands that differ.
static void convertOperands(Operation *op) {
  convertForwardedOperands(op);
  convertInits(op);
  if (op->getNumRegions() != 0 || verifies(op))
    return;
  if (op->getNumResults() != 0) {
    bool requiresGrad = llvm::any_of(op->getResults(), carries);
    for (OpOperand &operand : op->getOpOperands())
      convertOperand(operand, requiresGrad);
    if (verifies(op))
      return;
  }
  castAround(op);
}

void mlir::grad::writeEncodings(FunctionOpInterface function,
                                function_ref<bool(Value)> requiresGrad) {
  auto write = [&](Value value) {
    if (requiresGrad(value))
      value.setType(withRequiresGrad(value.getType(), true));
  };
  SmallVector<Operation *> ops;
  SmallVector<Operation *> returns;
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), write);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), write);
    if (op == function)
      return;
    ops.push_back(op);
    if (op->getParentOp() == function && op->hasTrait<OpTrait::ReturnLike>())
      returns.push_back(op);
  });

  SmallVector<Type> results(function.getResultTypes());
  for (Operation *op : returns)
    for (auto [type, operand] : llvm::zip_equal(results, op->getOperands()))
      if (carries(operand))
        type = withRequiresGrad(type, true);
  for (Operation *op : returns)
    for (auto [type, operand] : llvm::zip_equal(results, op->getOpOperands()))
      convertOperand(operand, hasRequiresGrad(type));
  if (!function.isExternal())
    function.setType(function.cloneTypeWith(
        function.getFunctionBody().getArgumentTypes(), results));

  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), carries) ||
        llvm::any_of(op->getResults(), carries) || op->getNumRegions() != 0)
      convertOperands(op);
}

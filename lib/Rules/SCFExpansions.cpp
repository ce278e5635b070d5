//===- SCFExpansions.cpp - Parallel loops as sequential ones --------------===//
//
// The iterations of scf.forall and scf.parallel do not read what others write,
// so their derivative is that of a nest of scf.for over the same iterations.
//
//===----------------------------------------------------------------------===//

#include "Rules/Expansion.h"
#include "Rules/Rules.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::grad;

static void cloneInto(OpBuilder &b, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
}

static SmallVector<Value> lookup(const IRMapping &mapping, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// Slices that the iterations insert in parallel are inserted one after the
/// other. What an iteration reads of a shared output is as it was before.
static FailureOr<SmallVector<Value>> expandForall(OpBuilder &b,
                                                  scf::ForallOp op) {
  for (Operation &inner : op.getTerminator().getYieldingOps())
    if (!isa<tensor::ParallelInsertSliceOp>(inner)) {
      InFlightDiagnostic diag = op.emitOpError("has no derivative rule for '")
                                << inner.getName()
                                << "', which combines its iterations";
      diag.attachNote(inner.getLoc()) << "use tensor.parallel_insert_slice";
      return diag;
    }
  scf::LoopNest nest = scf::buildLoopNest(
      b, op.getLoc(), op.getLowerBound(b), op.getUpperBound(b), op.getStep(b),
      op.getOutputs(),
      [&](OpBuilder &body, Location loc, ValueRange ivs, ValueRange carried) {
        IRMapping mapping;
        mapping.map(op.getInductionVars(), ivs);
        mapping.map(op.getRegionOutArgs(), op.getOutputs());
        cloneInto(body, *op.getBody(), mapping);
        SmallVector<Value> outputs(carried);
        for (Operation &inner : op.getTerminator().getYieldingOps()) {
          auto insert = cast<tensor::ParallelInsertSliceOp>(inner);
          auto argument = cast<BlockArgument>(insert.getDest());
          Value &output = outputs[argument.getArgNumber() - op.getRank()];
          output = tensor::InsertSliceOp::create(
              body, insert.getLoc(), output.getType(),
              mapping.lookupOrDefault(insert.getSource()), output,
              lookup(mapping, insert.getOffsets()),
              lookup(mapping, insert.getSizes()),
              lookup(mapping, insert.getStrides()), insert.getStaticOffsets(),
              insert.getStaticSizes(), insert.getStaticStrides());
        }
        return outputs;
      });
  return SmallVector<Value>(nest.results);
}

/// Reductions happen in the order of the loops.
static FailureOr<SmallVector<Value>> expandParallel(OpBuilder &b,
                                                    scf::ParallelOp op) {
  auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
  scf::LoopNest nest = scf::buildLoopNest(
      b, op.getLoc(), op.getLowerBound(), op.getUpperBound(), op.getStep(),
      op.getInitVals(),
      [&](OpBuilder &body, Location, ValueRange ivs, ValueRange carried) {
        IRMapping mapping;
        mapping.map(op.getInductionVars(), ivs);
        cloneInto(body, *op.getBody(), mapping);
        SmallVector<Value> sums;
        for (auto [region, operand, sum] : llvm::zip_equal(
                 reduce.getReductions(), reduce.getOperands(), carried)) {
          Block &combine = region.front();
          mapping.map(combine.getArgument(0), sum);
          mapping.map(combine.getArgument(1), mapping.lookupOrDefault(operand));
          cloneInto(body, combine, mapping);
          sums.push_back(
              mapping.lookupOrDefault(combine.getTerminator()->getOperand(0)));
        }
        return sums;
      });
  return SmallVector<Value>(nest.results);
}

static FailureOr<SmallVector<Value>>
expandExecuteRegion(OpBuilder &b, scf::ExecuteRegionOp op) {
  if (!op.getRegion().hasOneBlock()) {
    InFlightDiagnostic diag = op.emitOpError(
        "has no derivative rule: it has control flow between blocks");
    diag.attachNote() << "use scf.if, scf.for or scf.while";
    return diag;
  }
  IRMapping mapping;
  Block &block = op.getRegion().front();
  cloneInto(b, block, mapping);
  return lookup(mapping, block.getTerminator()->getOperands());
}

static void attach(MLIRContext *context, scf::SCFDialect *) {
  expansion<scf::ForallOp>(context, expandForall);
  expansion<scf::ParallelOp>(context, expandParallel);
  expansion<scf::ExecuteRegionOp>(context, expandExecuteRegion);
}

void mlir::grad::registerSCFExpansions(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

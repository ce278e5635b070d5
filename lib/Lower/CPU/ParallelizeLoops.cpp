//===- ParallelizeLoops.cpp - Kernels that compute a part of a loop -------===//

#include "Lower/Passes.h"

namespace mlir::grad {
#define GEN_PASS_DEF_PARALLELIZELOOPSPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;
using namespace mlir::grad;

namespace {
struct ParallelizeLoopsPass
    : grad::impl::ParallelizeLoopsPassBase<ParallelizeLoopsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](scf::ForOp loop) {
      auto grain = dyn_cast_or_null<IntegerAttr>(loop->removeAttr(kGrainAttr));
      auto kernel = loop->getParentOfType<func::FuncOp>();
      if (grain && kernel.getName().starts_with(kKernelPrefix))
        takeBounds(kernel, loop, grain.getInt());
    });
    SmallVector<func::CallOp> calls;
    getOperation()->walk([&](func::CallOp call) { calls.push_back(call); });
    SymbolTable symbols(getOperation());
    for (func::CallOp call : calls)
      if (auto attribute =
              symbols.lookup(call.getCallee())
                  ->getAttrOfType<DenseI64ArrayAttr>(kParallelAttr))
        passBounds(call, attribute[0]);
  }

  /// A kernel has one nest, and a nest one such loop.
  static void takeBounds(func::FuncOp kernel, scf::ForOp loop, int64_t grain) {
    OpBuilder builder(kernel);
    std::optional<APInt> size = loop.getStaticTripCount();
    for (OpOperand *bound :
         {&loop.getLowerBoundMutable(), &loop.getUpperBoundMutable()}) {
      unsigned index = kernel.getNumArguments();
      (void)kernel.insertArgument(index, builder.getIndexType(), {},
                                  loop.getLoc());
      bound->set(kernel.getArgument(index));
    }
    kernel->setAttr(kParallelAttr, builder.getDenseI64ArrayAttr(
                                       {size->getSExtValue(), grain}));
  }

  static void passBounds(func::CallOp call, int64_t size) {
    OpBuilder builder(call);
    Location loc = call.getLoc();
    SmallVector<Value> operands(call.getOperands());
    for (int64_t bound : {int64_t(0), size})
      operands.push_back(arith::ConstantIndexOp::create(builder, loc, bound));
    func::CallOp::create(builder, loc, call.getCallee(), TypeRange(), operands);
    call.erase();
  }
};
} // namespace

//===- SCFRules.cpp - Derivatives of the scf dialect ----------------------===//

#include "Rules/BranchDerivative.h"
#include "Rules/ForAdjoint.h"
#include "Rules/LoopTangent.h"
#include "Rules/Rules.h"
#include "Rules/WhileAdjoint.h"

using namespace mlir;
using namespace mlir::grad;

namespace {

template <typename OpTy>
struct Branch : DifferentiableOpInterface::ExternalModel<Branch<OpTy>, OpTy> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return emitBranchVjp(op, vjp);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    return emitBranchJvp(op, jvp);
  }
};

struct For : DifferentiableOpInterface::ExternalModel<For, scf::ForOp> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return ForAdjoint(cast<scf::ForOp>(op), vjp).emit();
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    return emitForJvp(cast<scf::ForOp>(op), jvp);
  }
};

struct While : DifferentiableOpInterface::ExternalModel<While, scf::WhileOp> {
  LogicalResult emitVjp(Operation *op, VjpBuilder &vjp) const {
    return emitWhileVjp(cast<scf::WhileOp>(op), vjp);
  }
  LogicalResult emitJvp(Operation *op, JvpBuilder &jvp) const {
    return emitWhileJvp(cast<scf::WhileOp>(op), jvp);
  }
};

void attach(MLIRContext *context, scf::SCFDialect *) {
  scf::IfOp::attachInterface<Branch<scf::IfOp>>(*context);
  scf::IndexSwitchOp::attachInterface<Branch<scf::IndexSwitchOp>>(*context);
  scf::ForOp::attachInterface<For>(*context);
  scf::WhileOp::attachInterface<While>(*context);
}

} // namespace

void mlir::grad::registerSCFRules(DialectRegistry &registry) {
  registry.addExtension(+attach);
}

//===- BoolToByte.cpp - Buffers of i1 as buffers of i8 --------------------===//

#include "Lower/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::grad {
#define GEN_PASS_DEF_BOOLTOBYTEPASS
#include "Lower/Passes.h.inc"
} // namespace mlir::grad

using namespace mlir;

static bool isBool(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getElementType().isInteger(1);
}

/// Values go through a comparison on the way out and are widened on the way
/// in; the types of the buffers change later, all at once.
static void convertAccess(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Type byte = builder.getI8Type();
  if (auto load = dyn_cast<memref::LoadOp>(op);
      load && isBool(load.getMemRefType())) {
    load.getResult().setType(byte);
    builder.setInsertionPointAfter(load);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
    Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        load, zero);
    load.getResult().replaceAllUsesExcept(isSet, isSet.getDefiningOp());
  } else if (auto store = dyn_cast<memref::StoreOp>(op);
             store && isBool(store.getMemRefType())) {
    Value wide =
        arith::ExtUIOp::create(builder, loc, byte, store.getValueToStore());
    store.getValueMutable().assign(wide);
  } else if (auto global = dyn_cast<memref::GlobalOp>(op);
             global && isBool(global.getType())) {
    if (auto values =
            dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr()))
      global.setInitialValueAttr(
          values.mapValues(byte, [](const APInt &bit) { return bit.zext(8); }));
  }
}

namespace {
struct BoolToBytePass : grad::impl::BoolToBytePassBase<BoolToBytePass> {
  void runOnOperation() override {
    getOperation()->walk(convertAccess);
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (!isBool(type))
        return std::nullopt;
      return MemRefType::get(type.getShape(),
                             IntegerType::get(type.getContext(), 8),
                             type.getLayout(), type.getMemorySpace());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};
} // namespace

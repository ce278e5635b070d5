"""The `grad` dialect in the contexts of the `mlir` package."""

from __future__ import annotations

import pytest
from mlir import ir
from mlir.dialects import func
from mlir.passmanager import PassManager

from gradc.dialects import grad


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        grad.register_dialect(context)
        yield context


def test_registering_twice_is_fine(context):
    grad.register_dialect()
    grad.register_dialect(context)


def test_attribute(context):
    attribute = grad.RequiresGradAttr.get(context)
    assert str(attribute) == "#grad.requires_grad"
    assert attribute == grad.RequiresGradAttr.get()
    assert not grad.RequiresGradAttr.isinstance(ir.UnitAttr.get())


def test_types(context):
    plain = ir.RankedTensorType.get([4], ir.F32Type.get())
    carrying = grad.with_requires_grad(plain)
    assert str(carrying) == "tensor<4xf32, #grad.requires_grad>"
    assert ir.RankedTensorType(carrying).encoding == grad.RequiresGradAttr.get()
    assert grad.has_requires_grad(carrying)
    assert not grad.has_requires_grad(plain)
    assert grad.with_requires_grad(carrying, False) == plain
    integers = ir.RankedTensorType.get([4], ir.IntegerType.get_signless(64))
    assert grad.with_requires_grad(integers) == integers


def test_ops_share_the_context(context):
    tensor = ir.RankedTensorType.get([4], ir.F32Type.get())
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):

        @func.FuncOp.from_py_func(tensor, tensor)
        def f(value, path):
            return grad.value_of(tensor, grad.stop_gradient(tensor, value), path)

    assert module.operation.verify()
    parsed = ir.Module.parse(str(module))
    function = parsed.body.operations[0]
    stop, value_of, _ = function.regions[0].blocks[0].operations
    assert isinstance(stop, grad.StopGradientOp)
    assert isinstance(value_of, grad.ValueOfOp)
    assert value_of.gradient_path == function.arguments[1]


def test_verifier_errors_reach_python(context):
    with pytest.raises(ir.MLIRError, match="does not name a function"):
        ir.Module.parse(
            """
            func.func @g(%x: f32) -> f32 {
              %0:2 = grad.vjp @missing(%x) cotangents(%x) wrt [0] : (f32, f32) -> (f32, f32)
              return %0#1 : f32
            }
            """
        )


def test_passes(context):
    module = ir.Module.parse(
        "func.func @f(%x: tensor<4xf32> {grad.requires_grad}) -> tensor<4xf32> {"
        " return %x : tensor<4xf32> }"
    )
    PassManager.parse("builtin.module(grad-infer-requires-grad)").run(module.operation)
    assert "-> tensor<4xf32, #grad.requires_grad>" in str(module)

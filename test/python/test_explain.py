"""`gradc.explain`: every statement on four models against eager autograd and the runtime."""

from __future__ import annotations

import functools
import itertools
import json
import sys
from collections import defaultdict
from pathlib import Path

import explained
import pytest
import torch
import torch.utils._pytree as pytree
from eager_record import Recorder, reached
from torch.overrides import TorchFunctionMode

import gradc
from gradc import demo


def _demo():
    torch.manual_seed(0)
    model = demo.Loss(demo.DigitNet())
    return model, (torch.rand(8, 1, 8, 8), torch.randint(10, (8,)))


def _barriers():
    return explained.Barriers(), (torch.randn(5, 6),)


def _block():
    return explained.Block(), (torch.randint(11, (3, 4)), torch.randint(8, (3,)))


def _step():
    leaves = (torch.randn(4, 4).requires_grad_(), torch.randn(4).requires_grad_())
    return explained.step, (*leaves, torch.randn(3, 4), torch.tensor(2))


MODELS = {"demo": _demo, "barriers": _barriers, "block": _block, "step": _step}


@functools.cache
def _explained(name):
    fn, args = MODELS[name]()
    return fn, args, gradc.explain(fn, *args)


@pytest.fixture(params=MODELS)
def model(request):
    """A function, its arguments, and its explanation."""
    return _explained(request.param)


# -- the independent source: PyTorch's own graph
def leaves_of(function):
    """The leaves among them, by id."""
    return {id(f.variable) for f in reached(function) if hasattr(f, "variable")}


def names_of(fn, args):
    """id of a tensor -> what the user calls it."""
    names = {}
    function = fn
    if isinstance(fn, torch.nn.Module):
        names = {id(t): n for n, t in [*fn.named_parameters(), *fn.named_buffers()]}
        function = type(fn).forward
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    parameters = [p for p in parameters if p != "self"]
    return names | {id(t): n for n, t in zip(parameters, args, strict=True)}


def by_line(explanation):
    rows = defaultdict(list)
    for value in explanation.intermediates:
        rows[value.file, value.line].append(value)
    return rows


def eager(fn, args, explanation):
    """The eager run: tensors by line, and the outputs."""
    recorder = Recorder({file for file, _ in by_line(explanation)})
    with recorder:
        outputs = fn(*args)
    return recorder.made, [t for t in pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor)]


def pairs(fn, args, explanation):
    """(what gradc says of a value, what eager mode made) for every value, and eager's outputs."""
    made, outputs = eager(fn, args, explanation)
    rows = by_line(explanation)
    found = []
    assert {k for k, v in made.items() if v} == set(rows)
    for where, values in rows.items():
        assert [v.shape for v in values] == [m.shape for m in made[where]], where
        found += list(zip(values, made[where], strict=True))
    return found, outputs


def test_requires_grad_of_every_value(model):
    fn, args, explanation = model
    found, outputs = pairs(fn, args, explanation)
    for value, made in found:
        # A view made under no_grad says True for its base, but has no path.
        assert value.requires_grad == (made.function is not None), value
        assert value.dtype == made.dtype
    names = {f"output[{k}]" if len(outputs) > 1 else "output": t for k, t in enumerate(outputs)}
    for name, tensor in names.items():
        assert explanation.requires_grad(name) == tensor.requires_grad


def test_dependence_on_every_argument(model):
    fn, args, explanation = model
    names = names_of(fn, args)
    for value, made in pairs(fn, args, explanation)[0]:
        leaves = {names[leaf] for leaf in leaves_of(made.function)}
        assert set(value.depends_on) == leaves, value
        if value.needed:
            root = value.why.split("`")[1]
            assert root in leaves
            assert f"and {len(leaves) - 1} more" in value.why or len(leaves) == 1
            assert value.why.endswith(f"{explanation.find(value.path[0]).place}")
            assert explanation.find(value.path[0]).depends_on


def test_path_is_in_the_graph(model):
    """Each value of a path is in the autograd graph of the next one."""
    fn, args, explanation = model
    found = pairs(fn, args, explanation)[0]
    functions = {value.key: made.function for value, made in found}
    for value, _ in found:
        assert not value.requires_grad or value.path[-1] == value.key
        for before, after in itertools.pairwise(value.path):
            assert functions[before] in reached(functions[after])


def test_needed_is_what_gets_a_gradient(model):
    fn, args, explanation = model
    found, outputs = pairs(fn, args, explanation)
    got = set()
    for _, made in found:
        if made.function is not None:
            made.function.register_prehook(
                lambda grads, function=made.function: got.update(
                    (function, number) for number, g in enumerate(grads) if g is not None
                )
            )
    sum(o.double().sum() for o in outputs if o.requires_grad).backward()
    for value, made in found:
        assert value.needed == ((made.function, made.number) in got), value
    names = {name: tensor for tensor, name in _named(fn, args)}
    for value in explanation.arguments:
        assert value.needed == (names[value.name].grad is not None), value


def _named(fn, args):
    names = names_of(fn, args)
    tensors = list(args)
    if isinstance(fn, torch.nn.Module):
        tensors += [*fn.parameters(), *fn.buffers()]
    return [(t, names[id(t)]) for t in tensors]


def test_arguments(model):
    fn, args, explanation = model
    found = {value.name: value for value in explanation.arguments}
    named = {name: tensor for tensor, name in _named(fn, args)}
    # A tensor that the function does not touch is none of its arguments.
    assert set(found) <= set(named)
    assert {n for n, t in named.items() if t.requires_grad} <= set(found)
    for name, value in found.items():
        assert value.requires_grad == named[name].requires_grad
        assert value.shape == tuple(named[name].shape)
        if isinstance(fn, torch.nn.Module):
            parameter = name in dict(fn.named_parameters())
            buffer = name in dict(fn.named_buffers())
            kind = "parameter" if parameter else "buffer" if buffer else "argument"
            assert value.kind == kind


# -- barriers
class Without(TorchFunctionMode):
    """Runs a function as if ``detach`` did nothing."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.detach:
            return args[0]
        return function(*args, **(kwargs or {}))


def _line(obj, text):
    """The line of the source file that defines ``obj`` in which ``text`` is, and the file."""
    file = sys.modules[obj.__module__].__file__
    lines = Path(file).read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line]
    return file, number


def test_what_detach_cuts_in_the_demo():
    fn, args = _demo()
    explanation = gradc.explain(fn, *args)
    (barrier,) = [b for b in explanation.barriers if b.kind == "detach"]
    assert (barrier.file, barrier.line) == _line(demo.DigitNet, "features.detach()")
    assert barrier.stops == ("detach",)
    _, auxiliary = fn.net(args[0])
    before = leaves_of(auxiliary.grad_fn)
    with Without():
        _, auxiliary = fn.net(args[0])
    names = names_of(fn, args)
    assert set(barrier.cuts) == {names[leaf] for leaf in leaves_of(auxiliary.grad_fn) - before}


def test_barriers():
    fn, args = _barriers()
    explanation = gradc.explain(fn, *args)
    first = ("first.weight", "first.bias")
    expected = {
        "@torch.no_grad()": ("no_grad", first),
        "with torch.no_grad()": ("no_grad", first),
        "gradc.stop_gradient": ("stop_gradient", (*first, "scale")),
        "through.detach()": ("detach", first),
        "hidden.data": ("data", first),
    }
    found = {(b.file, b.line): b for b in explanation.barriers}
    for text, (kind, cuts) in expected.items():
        barrier = found.pop(_line(explained.Barriers, text))
        assert (barrier.kind, set(barrier.cuts)) == (kind, set(cuts))
    assert not found
    assert explanation.find("average").why == "stopped by no_grad at explained.py:" + str(
        _line(explained.Barriers, "@torch.no_grad()")[1]
    )
    assert explanation.find("half").barriers == explanation.find("norm").barriers
    assert explanation.find("mask").why == "boolean"
    assert explanation.find("weights").why == "reads only constants"
    assert explanation.find("unused").why == "not needed: reaches no output"
    assert explanation.find("wasted").why == "not needed: reaches no output"
    assert explanation.find("frozen.weight").why == "requires_grad is not set"


def test_barriers_of_inference_mode_and_detached_differences():
    fn, args = _step()
    explanation = gradc.explain(fn, *args)
    kinds = {(b.kind, b.line) for b in explanation.barriers}
    assert kinds == {
        ("inference_mode", _line(fn, "with torch.inference_mode")[1]),
        ("detach", _line(fn, ".round() - y).detach()")[1]),
    }
    assert explanation.find("level").why.startswith("stopped by inference_mode at explained.py:")
    assert explanation.find("steps").why == "integer"


# -- what is saved
def test_saved_tensors_are_what_the_runtime_saves(model):
    fn, args, explanation = model
    compiled = gradc.compile(fn, fullgraph=True)
    outputs = [t for t in pytree.tree_leaves(compiled(*args)) if t.requires_grad]
    node = outputs[0].grad_fn
    kept = node.saved_tensors
    described = [(tuple(t.shape), str(t.dtype).removeprefix("torch."), t.nbytes) for t in kept]
    assert [(s.shape, s.dtype, s.bytes) for s in explanation.saved] == described
    outside = {t.untyped_storage().data_ptr() for t, _ in _named(fn, args)}
    outside |= {t.untyped_storage().data_ptr() for t in outputs}
    allocated = sum(t.nbytes for t in kept if t.untyped_storage().data_ptr() not in outside)
    assert explanation.saved_bytes == allocated
    names = {name: tensor for tensor, name in _named(fn, args)}
    for saved, tensor in zip(explanation.saved, kept, strict=True):
        if saved.kind == "argument":
            assert tensor.data_ptr() == names[saved.name].data_ptr()
        elif saved.kind == "intermediate":
            for name in saved.name.split(", "):
                assert explanation.find(name).kind == "intermediate"


def test_nothing_is_saved_without_a_gradient():
    explanation = gradc.explain(lambda x: x.exp(), torch.ones(3))
    assert explanation.saved == ()
    assert explanation.find("x").why == "requires_grad is not set"
    assert explanation.find("output").why == "reads only constants"


# -- ways in and out
def test_explaining_changes_nothing():
    fn, args = _demo()
    before = {name: value.clone() for name, value in fn.state_dict().items()}
    state = torch.get_rng_state()
    gradc.explain(fn, *args)
    assert torch.equal(torch.get_rng_state(), state)
    for name, value in fn.state_dict().items():
        assert torch.equal(value, before[name])


def test_compiled_functions_and_modules():
    fn, args = _step()
    assert gradc.explain(gradc.compile(fn), *args) == gradc.explain(fn, *args)
    module, inputs = _barriers()
    plain = gradc.explain(module, *inputs)
    assert gradc.explain(gradc.compile(module), *inputs) == plain
    with torch.no_grad():
        assert gradc.explain(module, *inputs) == plain


def test_an_argument_that_is_returned():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    explanation = gradc.explain(lambda x, y: (x, x * 2, y.detach()), x, y)
    assert explanation.find("output[0]").key == "x"
    assert explanation.find("x").needed
    assert explanation.find("y").why == "not needed: reaches no output"


def test_transforms_inside():
    def loss(w, x):
        return (w * x).sin().sum()

    def f(w, x):
        value, slope = gradc.value_and_grad(loss)(w, x)
        fixed = slope.detach()
        return (slope * fixed).sum() + value

    w, x = torch.randn(3, requires_grad=True), torch.randn(3)
    explanation = gradc.explain(f, w, x)
    ops = [value.op for value in explanation.intermediates]
    assert ops == ["transform", "transform", "detach", "mul", "sum", "add"]
    assert all(value.depends_on == ("w",) for value in explanation.intermediates if value.needed)
    assert explanation.find("fixed").why.startswith("stopped by detach at test_explain.py:")
    assert {saved.name for saved in explanation.saved if saved.kind == "argument"} <= {"w", "x"}


def test_closures_keywords_and_pytrees():
    scale = torch.ones(3, requires_grad=True)

    def f(batch, *rest, shift):
        return batch["x"] * scale + rest[0] + shift

    one = torch.ones(3)
    explanation = gradc.explain(f, {"x": one}, one + 1, shift=one + 2)
    assert {v.name for v in explanation.arguments} == {"batch['x']", "scale", "rest[0]", "shift"}
    assert explanation.find("scale").kind == "captured"
    assert explanation.find("output").depends_on == ("scale",)


def test_json_round_trip(model):
    _, _, explanation = model
    text = explanation.to_json()
    assert gradc.Explanation.from_json(text) == explanation
    assert [v["key"] for v in json.loads(text)["values"]] == [v.key for v in explanation.values]


def test_table_has_a_row_a_value(model):
    _, _, explanation = model
    text = str(explanation)
    for value in explanation.values:
        assert any(value.key in line and value.why in line for line in text.splitlines()), value
    assert f" {explanation.saved_bytes} " in text


def test_names():
    explanation = gradc.explain(*_flat(_barriers()))
    assert explanation.requires_grad("hidden")
    assert not explanation.requires_grad("frozen.bias")
    assert explanation.find("result") == explanation.find("output[0]")
    keys = [value.key for value in explanation.values]
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert explanation.find(key).key == key
    with pytest.raises(gradc.InputError, match="no value of Barriers is called 'hiden'") as error:
        explanation.requires_grad("hiden")
    assert "hidden" in error.value.hint
    with pytest.raises(gradc.InputError, match="values of Barriers are called 'data'") as error:
        explanation.requires_grad("data")
    assert "data:" in str(error.value)


def _flat(model):
    fn, args = model
    return fn, *args


def test_a_variable_that_is_assigned_twice():
    def f(x):
        x = x.exp()
        x = x.sin()
        return x

    explanation = gradc.explain(f, torch.ones(2, requires_grad=True))
    line = f.__code__.co_firstlineno
    with pytest.raises(gradc.InputError, match="3 values") as error:
        explanation.find("x")
    for key in ("x (argument)", f"x:{line + 1}", f"x:{line + 2}"):
        assert repr(key) in str(error.value)
        assert explanation.requires_grad(key)


def test_no_function():
    with pytest.raises(gradc.InputError, match="takes a function or a module, got a int"):
        gradc.explain(3)
    with pytest.raises(gradc.InputError, match="is a gradc transform"):
        gradc.explain(gradc.grad(lambda x: x.sum()), torch.ones(2))


def test_nothing_to_explain():
    with pytest.raises(gradc.InputError, match="computes nothing from tensors"):
        gradc.explain(lambda: 3)


def test_no_single_graph():
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(gradc.CaptureError, match="needs the whole function as one graph"):
        gradc.explain(f, torch.ones(2, requires_grad=True))

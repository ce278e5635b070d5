"""A compiled function returns views where eager execution does: of arguments, of other outputs."""

import pytest
import torch

import gradc


def under_no_grad(a):
    with torch.no_grad():
        row = a[1]
    return row, a * 2


def written(a):
    row = a[0]
    row.mul_(2)
    return row, a[1], a


def written_value(a):
    value = a * 1
    row = value[0]
    row.mul_(2)
    return row, value.t(), value.detach()[1]


def part_and_whole(a):
    value = a.exp()
    return value[0], value, value.detach()


def parts(a):
    return (a * 2).chunk(2, 1)


FUNCTIONS = {
    "row": lambda a: a[0],
    "transposed, and a value": lambda a: (a.t(), a.sum()),
    "detached": lambda a: a.detach(),
    "expanded": lambda a: a[:, None].expand(3, 5, 4),
    "unbound": lambda a: a.unbind(0),
    "chain": lambda a: a.reshape(4, 3).transpose(0, 1)[1:].unsqueeze(0),
    "flat module": torch.nn.Flatten(0),
    "value": lambda a: (a * 3).t(),
    "under no_grad": under_no_grad,
    "written": written,
    "written value": written_value,
    "part and whole": part_and_whole,
    "parts": parts,
}


def outputs_of(function, argument):
    found = function(argument)
    return found if isinstance(found, tuple) else (found,)


def argument(requires_grad):
    torch.manual_seed(0)
    a = torch.randn(3, 4, dtype=torch.float64, requires_grad=requires_grad)
    return a, a * 1  # what is written in place must not be a leaf


def shared(tensors):
    storages = [tensor.untyped_storage().data_ptr() for tensor in tensors]
    return [storages.index(storage) for storage in storages]


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_memory_strides_and_paths_are_those_of_eager(function, requires_grad):
    found = []
    for run in (function, gradc.compile(function)):
        _, a = argument(requires_grad)
        outputs = outputs_of(run, a)
        found.append(
            (
                shared([a, *outputs]),
                [output.stride() for output in outputs],
                [output.requires_grad for output in outputs],
            )
        )
    assert found[0] == found[1]


def test_writes_into_outputs_are_seen_where_eager_sees_them(function):
    values = []
    for run in (function, gradc.compile(function)):
        _, a = argument(False)
        outputs = outputs_of(run, a)
        for output in outputs:
            if 0 not in output.stride():
                output.add_(1)
        values.append([a, *outputs])
    for ours, eager in zip(values[1], values[0], strict=True):
        torch.testing.assert_close(ours, eager)


@pytest.mark.parametrize("write", [False, True])
def test_gradients(function, write):
    gradients = []
    for run in (function, gradc.compile(function)):
        leaf, a = argument(True)
        outputs = outputs_of(run, a)
        total = sum((output.sin() * output).sum() for output in outputs)
        if write:
            first = outputs[0]
            try:
                first.mul_(3)
            except RuntimeError as refused:  # one of several views: eager refuses it as well
                gradients.append(str(refused).split(":")[0])
                continue
            total = total + sum((output * output).sum() for output in (a, *outputs))
        if not total.requires_grad:
            gradients.append(None)
            continue
        try:
            gradients.append(torch.autograd.grad(total, leaf, allow_unused=True)[0])
        except RuntimeError as changed:  # a value that sin's derivative needs
            gradients.append(str(changed).split(":")[0])
    eager, ours = gradients
    if isinstance(eager, torch.Tensor):
        torch.testing.assert_close(ours, eager)
    else:
        assert (ours is None) == (eager is None)
        assert isinstance(ours, str) == isinstance(eager, str)


def test_views_of_parameters():
    layer = torch.nn.Linear(4, 2)

    def f(x):
        return layer(x), layer.weight, layer.weight.t(), layer.bias[0]

    _, weight, transposed, first = gradc.compile(f)(torch.randn(3, 4))
    assert weight is layer.weight
    assert shared([layer.weight, transposed]) == [0, 0]
    assert shared([layer.bias, first]) == [0, 0]


def test_second_derivative_through_a_view():
    def f(a):
        value = a**3
        return value.t(), value.sum()

    _, a = argument(True)
    seconds = []
    for run in (f, gradc.compile(f)):
        view, total = run(a)
        (first,) = torch.autograd.grad((view**2).sum() + total, a, create_graph=True)
        (second,) = torch.autograd.grad(first.sin().sum(), a)
        seconds.append(second)
    torch.testing.assert_close(seconds[1], seconds[0])


def test_what_only_views_are_is_not_computed():
    compiled = gradc.compile(lambda a: (a.exp().sum(), a.t(), a[0]))
    compiled(argument(True)[1])
    assert "tensor<4x3xf64>" not in compiled.ir("inferred")

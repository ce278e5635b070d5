import torch

from cases import t

KIND = 1
SOURCE = "jax-ml/jax#892"
WHY = (
    "stop_gradient on a dict/list with non-tensor leaves: every tensor leaf is stopped, other "
    "leaves pass through (was silently a no-op)"
)


def stop(o):
    if isinstance(o, dict):
        return {k: stop(v) for k, v in o.items()}
    if isinstance(o, (list, tuple)):
        return type(o)(stop(v) for v in o)
    return o.detach() if isinstance(o, torch.Tensor) else o


def f(x):
    d = stop({"a": 2 * x, "b": [3 * x, 7], "c": None})
    return (d["a"] * x + d["b"][0] * d["b"][1]).sum()


ARGS = [t([1.0, 2.0])]
ARGNUMS = (0,)
EXPECTED = [73.0, [2.0, 4.0]]

"""``nn.RNN``, ``nn.GRU`` and ``nn.LSTM``, which Dynamo captures only where it is told to.

PyTorch takes them apart step by step, so a program is as long as the sequence. The setting is
Dynamo's and holds for all backends: it is made for the calls in which a function of ours may be
compiled, which are all calls once such a module was met.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch.fx import GraphModule

_OPS = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})

_met = False


def note(gm: GraphModule) -> None:
    """Remembers whether ``gm`` has such a module in it."""
    global _met
    _met = _met or any(getattr(node.target, "__name__", "") in _OPS for node in gm.graph.nodes)


def met() -> bool:
    """Whether a captured function had such a module in it."""
    return _met


def allowed() -> AbstractContextManager:
    """While it is entered, Dynamo captures these modules."""
    return torch._dynamo.config.patch(allow_rnn=True)

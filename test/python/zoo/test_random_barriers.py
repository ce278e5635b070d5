"""Barriers sprinkled at random over the zoo: the ``requires_grad`` of every intermediate is eager
PyTorch's.

``GRADC_EXAMPLES=2000`` runs as many instead of the 20 that run by default.
"""

from __future__ import annotations

import os
import random

import torch
from compare import assert_like_eager
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sprinkle import sprinkled

import gradc

EXAMPLES = int(os.environ.get("GRADC_EXAMPLES", "20"))
NAMES = ["lstm_cell", "mlp", "cnn_train", "block", "transformer_layer", "frozen", "writes", "views"]


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES == 20, database=None,
          report_multiple_bugs=False)  # fmt: skip
@given(st.integers(0, 2**32), st.sampled_from(NAMES))
def test_requires_grad_with_barriers(seed, name):
    fn, arguments, text = sprinkled(name, random.Random(seed))
    torch._dynamo.reset()
    try:
        with torch.enable_grad():  # restored when a region is left by an error
            fn(*arguments)
    except RuntimeError:
        return  # what eager refuses
    note(text)
    assert_like_eager(gradc.explain(fn, *arguments), fn, [tuple(arguments)])

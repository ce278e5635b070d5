"""Which ATen ops keep PyTorch's derivative through the lowering, and which are refused.

A value that requires grad may pass through an op of ``KEPT`` (its lowered form has the same
derivative at every point, kinks included) or one that is outlined (outline.py). An op of
``REFUSED`` has a reason of its own; any other op is refused because nobody has checked it. Ops that
no gradient reaches are free.
"""

from __future__ import annotations

from typing import Any, NoReturn

from torch.fx import Graph, Node

from ..errors import UnsupportedError
from .diagnostics import location_of, op_name
from .nested import nested_of, placeholders_of
from .ops import ENTER_CHECKPOINT, LEAVE_CHECKPOINT, STOP, VALUE_OF, is_floating

_WAY_OUT = (
    "detach the value (x.detach()) if no gradient is wanted through it; give the function a "
    "derivative with gradc.custom_vjp or gradc.custom_jvp; or call it outside, where PyTorch's "
    "tape connects it with compiled functions"
)

#: What decompositions, outlined ops and rules implement; docs/reference/conventions.md is made from
#: it.
CONVENTIONS: dict[str, list[tuple[str, str]]] = {
    "Kinks": [
        ("`relu`, `abs`, `sign`", "0 at 0; `sign` and `floor` are connected, with derivative 0"),
        ("`hardtanh`, `relu6`, `hardsigmoid`", "0 at the bounds and for NaN"),
        ("`hardswish`", "0 at -3, 1 at 3"),
        ("`clamp`", "1 at the bounds, 0 for NaN; a tensor bound where it alone is the result"),
        ("`leaky_relu`, `elu`, `celu`, `selu`", "the negative branch's at 0"),
        ("`softshrink`, `hardshrink`, `threshold`", "0 on the closed side"),
        ("margin losses", "0 at the margin"),
    ],
    "Ties": [
        ("`maximum`, `minimum`", "a half each"),
        ("`fmax`, `fmin`", "the first operand; the number beside NaN"),
        ("`amax`, `amin`, `max()`, `min()`, `median()`", "split evenly"),
        ("`max(dim)`, `median(dim)`, `sort`, `topk`, pooling", "the returned index"),
        ("`topk`, `kthvalue`, unstable `sort`", "return equal elements in stable order"),
        ("`cummax`, `cummin`", "the later of equal elements"),
        ("infinity norm, `cdist(p=inf)`", "the norm splits evenly; `cdist` gives each all of it"),
    ],
    "Singular points": [
        ("norms, `dist`, `cdist`, `std` at 0", "0"),
        ("`sqrt(sum(x * x))` at 0", "NaN, by the chain rule"),
        ("`atan2` at the origin", "0"),
        ("`hypot` at the origin", "NaN"),
        ("`pow` with base or exponent 0", "zero-safe; no division by the base"),
        ("`prod`, `cumprod` with zeros", "products of the other factors, never a quotient"),
        ("`xlogy`", "log y in x, 0 at x = 0 where y <= 0; x / y in y, NaN at the origin"),
        ("`logaddexp` of equal operands", "a half each, with the right second derivative"),
        ("`logsumexp` of infinities", "exp(x - result): NaN where infinities cancel"),
        ("`sinc` at 0", "0; the second derivative is the analytic -pi**2 / 3"),
        ("`logit`", "1 / (x (1 - x)), NaN outside of [0, 1]; with eps 0 past the bounds"),
        ("`binary_cross_entropy` at 0 and 1", "x (1 - x) is at least 1e-12"),
        ("`softmax` of a row of -inf", "NaN; 0 in attention with a mask"),
        ("`cross_entropy`", "none for ignored labels; a mean over none is NaN with gradient 0"),
    ],
    "Data movement": [
        ("gathers, `accumulate=True`, `scatter_add`", "repeated indices add up"),
        ("overwriting the same place twice", "the gradient goes to the writer that survives"),
        ("`as_strided` of contiguous memory", "overlapping cells add up"),
        ("`embedding`", "none for the padding index"),
    ],
    "Precision": [
        ("bf16 and f16", "sums accumulate in f32 and round once, also in scatters"),
        ("gradients", "have their argument's dtype"),
    ],
}

REFUSED: dict[str, tuple[str, str]] = {
    "as_strided": (
        "reads memory of another layout than the tensor's own by strides",
        "call contiguous() before it, or use view, transpose, unfold or indexing",
    ),
    "as_strided_": (
        "changes the layout of a tensor in place",
        "use view, transpose, unfold or indexing instead",
    ),
    "grid_sampler_2d": (
        "its derivative at the border would be lost",
        'use padding_mode="zeros"',
    ),
    "adaptive_max_pool2d": (
        "its windows differ in size",
        "use sizes that divide those of the input",
    ),
    "max_pool3d_with_indices": (
        "its ties would be lost",
        "use max_pool2d over reshaped dimensions",
    ),
}

# Refused with or without a gradient: torch-mlir makes ops of its tm_tensor dialect of them, which
# MLIR does not have (and for some it aborts).
_SCATTER = ("writes a number of elements that depends on data", "choose with torch.where")
_REDUCE = (
    "reduces with a product or an extremum at computed positions",
    'use reduce="sum" or "mean", or torch.where over a mask for each position',
)
UNLOWERED: dict[str, tuple[str, str]] = {
    "mode": ("counts equal elements, which has no lowering yet", "call it outside"),
    "index_put": _SCATTER,
    "_unsafe_index_put": _SCATTER,
    "masked_scatter": _SCATTER,
    "scatter_reduce": _REDUCE,
    "index_reduce": _REDUCE,
    "scatter": (
        "multiplies at computed positions",
        "use scatter or scatter_add without reduce=",
    ),
    "max_unpool2d": ("is a scatter, which has no lowering yet", "use upsampling or slices"),
    "bincount": ("has a result whose size depends on data", "call it outside"),
}

# fmt: off
KEPT = frozenset("""
    abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh alias avg_pool1d avg_pool2d
    avg_pool3d baddbmm bmm cat ceil clone complex conj_physical constant_pad_nd convolution copy cos
    cosh detach diagonal diag_embed div dot embedding erf exp exp2 expand expm1 flip floor
    floor_divide fmod gather hypot imag index index_select lift_fresh_copy lift log log10 log1p log2
    lerp masked_fill mm mul mv neg nll_loss_forward nll_loss2d_forward permute pixel_shuffle pow
    real reciprocal reflection_pad1d reflection_pad2d remainder repeat replication_pad2d roll round
    rsqrt rsub select sigmoid sign sgn sin sinh slice slice_scatter split split_with_sizes
    select_scatter sqrt square squeeze stack sub sum t tan tanh transpose tril triu trunc unbind
    unfold unsqueeze upsample_nearest1d upsample_nearest2d view view_as_complex view_as_real where
    _to_copy _unsafe_index _unsafe_view unsafe_split convert_element_type relu threshold _conj tile
    unflatten flatten reshape col2im im2col _reshape_alias contiguous to
""".split())

OUTLINED = frozenset("""
    amax amin max min maximum minimum max_pool2d_with_indices add_at erfc
""".split())
# fmt: on

_SHAPE_ONLY = frozenset(
    "zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty "
    "new_empty_strided".split()
)


def refuse(name: str) -> NoReturn:
    """Raise for the op ``name`` of the table; the caller adds the location."""
    reason, hint = REFUSED[name]
    raise UnsupportedError(reason, hint=hint)


def carrying(graph: Graph, inputs: list[bool]) -> set[Node]:
    """The nodes of a functional ATen graph, and of the graphs that it calls, that may carry a
    gradient of some level, given the placeholders."""
    result: set[Node] = set()
    flags = iter(inputs)
    for node in graph.nodes:
        if node.op == "placeholder":
            if next(flags) and is_floating(node.meta.get("val")):
                result.add(node)
        elif node.op == "call_function":
            if inner := nested_of(node):
                if inner.other is not None:
                    # What a loop passes on may depend on any operand.
                    if any(operand in result for operand in node.args):
                        for graph in (inner.graph, inner.other):
                            result |= carrying(graph, [True] * len(placeholders_of(graph)))
                    if _passes(node, result):
                        result.add(node)
                    continue
                arguments = node.args[: len(placeholders_of(inner.graph))]
                inside = [n in result or k in inner.wrt for k, n in enumerate(arguments)]
                if not inner.rule:
                    result |= carrying(inner.graph, inside)
                elif any(inside):
                    # A rule may be differentiated again, through whatever it reads.
                    for graph in inner.rule:
                        result |= carrying(graph, [True] * len(placeholders_of(graph)))
            if _passes(node, result):
                result.add(node)
    return result


def _passes(node: Node, known: set[Node]) -> bool:
    if node.target is STOP or packet_name(node) in _SHAPE_ONLY:
        return False
    sources = [node.args[1]] if node.target is VALUE_OF else node.all_input_nodes
    return any(source in known for source in sources) and any(map(is_floating, _read(node)))


def _read(node: Node) -> list[Any]:
    """The results of ``node`` that anything reads."""
    value = node.meta.get("val")
    if not isinstance(value, (list, tuple)):
        return [value]
    return [user.meta.get("val") for user in node.users]


def packet_name(node: Node) -> str:
    """``sum`` for ``aten.sum.dim_IntList``; the plain name for anything else."""
    packet: Any = getattr(node.target, "overloadpacket", node.target)
    return getattr(packet, "__name__", str(packet))


def _check_closure(node: Node, carries: set[Node]) -> None:
    """Refuses a function with a rule that reads a value with a gradient besides its arguments: the
    rule has no gradient for it."""
    for operand in node.args:
        if operand.target is STOP and operand.args[0] in carries:
            raise UnsupportedError(
                "closes over a value that requires a gradient, which its rule does not know",
                op="a function with a derivative rule",
                location=location_of(node),
                hint="pass the value as an argument, or detach it",
            )


def check(graph: Graph, carries: set[Node]) -> None:
    """Raise ``UnsupportedError`` if a gradient reaches an op that would not keep PyTorch's."""
    for node in graph.nodes:
        name = packet_name(node)
        if inner := nested_of(node):
            both = (inner.graph,) if inner.other is None else (inner.graph, inner.other)
            if inner.rule:
                _check_closure(node, carries)
            for called in inner.rule or both:
                check(called, carries)
            continue
        if node.op == "call_function" and name in UNLOWERED:
            reason, hint = UNLOWERED[name]
            raise UnsupportedError(reason, op=op_name(node), location=location_of(node), hint=hint)
        if node not in carries or node.op != "call_function":
            continue
        if node.target in (STOP, VALUE_OF, ENTER_CHECKPOINT, LEAVE_CHECKPOINT):
            continue
        if name == "getitem" or name in KEPT or name in OUTLINED:
            continue
        reason, hint = REFUSED.get(
            name, ("no derivative of this operation has been checked against PyTorch's", _WAY_OUT)
        )
        raise UnsupportedError(
            f"a gradient flows through it, and {reason}",
            op=op_name(node),
            location=location_of(node),
            hint=hint,
        )

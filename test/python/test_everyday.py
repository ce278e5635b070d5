"""Everyday functions of PyTorch in native code: values, both modes and second derivatives.

The functions of a group are compiled as one; each takes two 4x6 matrices.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import gradc

MASK = torch.arange(24).reshape(4, 6) % 3 == 0
ROWS = torch.tensor([0, 2, 2])
PLACES = torch.tensor([[0, 5], [1, 1], [3, 0], [2, 4]])
BAGS = torch.tensor([0, 2, 1, 2, 3])


def _image(x):
    return x.reshape(1, 2, 3, 4)


def _written(x):
    y = x.clone()
    y[0, 1:3] = y[1, :2] * 2
    y[MASK] = 0.5
    return y


GROUPS = {
    "rolls": [
        lambda x, y: x.roll(1, 0),
        lambda x, y: x.roll(5),
        lambda x, y: x.roll((7, -9), (0, 1)),
        lambda x, y: x.roll(-2, 1),
        lambda x, y: x.roll(0, 0),
        lambda x, y: x.flip(0, 1),
        lambda x, y: torch.rot90(x, 3, (0, 1)),
    ],
    "repetitions": [
        lambda x, y: x.repeat(2, 1, 3),
        lambda x, y: x.tile((2, 2)),
        lambda x, y: x.repeat_interleave(2, 1),
        lambda x, y: x.repeat_interleave(torch.tensor([2, 0, 1, 3]), 0, output_size=6),
        lambda x, y: torch.kron(x[:2, :2], y[:2]),
        lambda x, y: torch.cartesian_prod(x[0], y[1]),
        lambda x, y: torch.block_diag(x, y[:2]),
        lambda x, y: torch.meshgrid(x[0], y[:, 0], indexing="xy")[1],
    ],
    "windows": [
        lambda x, y: x.unfold(1, 3, 2),
        lambda x, y: F.unfold(_image(x), 2),
        lambda x, y: F.fold(x.reshape(1, 4, 6), (3, 4), 2),
        lambda x, y: F.pixel_shuffle(x.reshape(1, 4, 2, 3), 2),
        lambda x, y: F.pixel_unshuffle(x.reshape(1, 1, 4, 6), 2),
        lambda x, y: F.adaptive_max_pool2d(x.reshape(1, 1, 4, 6), (2, 3)),
        lambda x, y: F.pad(x.reshape(1, 4, 6), (1, 2), mode="circular"),
        lambda x, y: F.avg_pool1d(x, 2) + F.max_pool1d(x, 2),
        lambda x, y: F.max_pool2d(_image(x)[0], 2) + F.avg_pool2d(_image(x)[0], 2),
        lambda x, y: F.conv2d(_image(x)[0], y[:, :4].reshape(2, 2, 2, 2)),
    ],
    "nearest": [
        lambda x, y: F.interpolate(_image(x), size=(2, 3)),
        lambda x, y: F.interpolate(_image(x), size=(7, 5)),
        lambda x, y: F.interpolate(_image(x), scale_factor=1.7),
        lambda x, y: F.interpolate(_image(x), scale_factor=(2, 3)),
        lambda x, y: F.interpolate(x.reshape(1, 2, 12), size=(5,)),
        lambda x, y: F.interpolate(x.reshape(1, 1, 2, 3, 4), size=(3, 2, 5)),
    ],
    "linear resampling": [
        lambda x, y: F.interpolate(_image(x), size=(5, 3), mode="bilinear"),
        lambda x, y: F.interpolate(x.reshape(1, 1, 2, 3, 4), size=(3, 2, 5), mode="trilinear"),
        lambda x, y: F.grid_sample(_image(x), y.tanh().reshape(1, 3, 4, 2), align_corners=False),
    ],
    "triangles": [
        lambda x, y: x.tril(-1) + y.triu(1),
        lambda x, y: torch.diag(x[0]) @ x[:, :6].mT,
        lambda x, y: x.diagonal(1) * torch.diag(y[:, 1:]),
        lambda x, y: torch.diag_embed(x).diagonal(0, 0, 2),
        lambda x, y: torch.trace(x),
        lambda x, y: (x * 2).fill_diagonal_(1.0),
        lambda x, y: torch.diagonal_scatter(x, y[:, 0]),
        lambda x, y: torch.linalg.vander(x[0], N=3),
    ],
    "products": [
        lambda x, y: torch.outer(x[0], y[1]),
        lambda x, y: torch.cross(x[:, :3], y[:, 3:], dim=1),
        lambda x, y: torch.einsum("ij,kj,kl->il", x, y, y),
        lambda x, y: torch.einsum("ii->i", x[:, :4]) * torch.einsum("ii", y[:, :4]),
        lambda x, y: torch.addmv(x[:, 0], x, y[0], beta=2, alpha=3),
        lambda x, y: torch.addbmm(x[:, :4], x.reshape(2, 4, 3), y.reshape(2, 3, 4), alpha=2),
        lambda x, y: torch.baddbmm(x[:, :4], x.reshape(2, 4, 3), y.reshape(2, 3, 4)),
        lambda x, y: torch.addr(x, y[:, 0], y[0]),
        lambda x, y: F.bilinear(x, y[:, :2], torch.cat([x, y]).reshape(4, 6, 2), x[:, 0]),
        lambda x, y: torch.tensordot(x.reshape(4, 2, 3), y.reshape(2, 3, 4), 2),
        lambda x, y: torch.matrix_power(x[:, :4], 3),
    ],
    "scans": [
        lambda x, y: x.cumsum(1) * y.cumprod(0),
        lambda x, y: x.logcumsumexp(1) + x.logcumsumexp(0),
        lambda x, y: x.cummax(1).values + x.cummin(0).values,
        lambda x, y: torch.trapezoid(x, y) + torch.trapz(x),
        lambda x, y: torch.diff(x, 2, 1),
        lambda x, y: torch.gradient(x[0])[0],
        lambda x, y: torch.renorm(x, 2, 0, 1.0),
    ],
    "elementwise": [
        lambda x, y: torch.lerp(x, y, 0.3) + torch.lerp(x, y, x),
        lambda x, y: torch.addcmul(x, x, y, value=0.5) + torch.addcdiv(x, y, y.exp()),
        lambda x, y: F.glu(x) * F.celu(y[:, :3]),
        lambda x, y: F.selu(x) + F.mish(y) + F.hardswish(x) + F.softshrink(y),
        lambda x, y: F.prelu(x, y[0]) + F.rrelu(x, training=False) + F.softsign(x),
        lambda x, y: torch.logit(x.sigmoid()) + torch.sinc(y) + torch.nan_to_num(x),
        lambda x, y: torch.heaviside(x.detach(), y.detach()) * torch.hypot(x, y),
        lambda x, y: torch.copysign(x, y) + torch.frac(x) + torch.logaddexp2(x, y),
        lambda x, y: torch.ldexp(x, torch.tensor(2)) + torch.float_power(y, 2),
    ],
    "order statistics": [
        lambda x, y: x.quantile(0.3, dim=1) + x.median(1).values + x.kthvalue(2, 1).values,
        lambda x, y: torch.msort(x) * torch.nansum(y) + x.nanmedian(1, keepdim=True).values,
        lambda x, y: x * torch.bucketize(y.detach(), torch.tensor([-1.0, 0.0, 1.0]).double()),
        lambda x, y: x * torch.searchsorted(x.detach().sort(1).values, y.detach(), right=True),
    ],
    "lookups": [
        lambda x, y: x.take(torch.tensor([0, 7, 7])),
        lambda x, y: torch.take_along_dim(x, PLACES, 1),
        lambda x, y: x.put(ROWS, y[0, :3], accumulate=True),
        lambda x, y: x.index_add(0, ROWS, y[:3], alpha=2).index_fill(1, ROWS, 1.5),
        lambda x, y: x.index_copy(0, torch.tensor([0, 2]), y[:2]),
        lambda x, y: x.scatter_add(1, PLACES, y[:, :2]),
        lambda x, y: x.masked_fill(MASK, 2.0) + torch.where(MASK, y, 0.0),
        lambda x, y: x.masked_scatter(MASK, y),
        lambda x, y: _written(x),
        lambda x, y: x[ROWS, ROWS] * y[1:, None, 2][:, 0],
        lambda x, y: torch.slice_scatter(x, y[:, :2], 1, 1, 3),
    ],
    "bags": [
        lambda x, y: F.embedding_bag(BAGS, x, torch.tensor([0, 2]), mode="sum"),
        lambda x, y: F.embedding_bag(BAGS, x, torch.tensor([0, 2, 2]), mode="mean"),
        lambda x, y: F.embedding_bag(PLACES % 4, x, mode="mean", padding_idx=1),
        lambda x, y: F.embedding_bag(
            BAGS, x, torch.tensor([0, 2, 5]), mode="sum", include_last_offset=True
        ),
    ],
    "pieces": [
        lambda x, y: torch.stack([x, y], 1).sum(0) + torch.hstack([x[:2], y[2:]])[:, :6],
        lambda x, y: torch.vstack([x, y]).chunk(3)[1],
        lambda x, y: torch.dstack([x, y]).tensor_split(4, 1)[0],
        lambda x, y: torch.column_stack([x[0], y[1]]).unbind(1)[1],
        lambda x, y: x.split([1, 5], 1)[1] * y.tensor_split((1, 6), 1)[1],
        lambda x, y: x.movedim(0, 1).unflatten(0, (2, 3))[::2, 1],
    ],
    "powers": [
        lambda x, y: y.abs() ** -3 + x**8,
        lambda x, y: x**-2.0 + y**5,
    ],
}


@pytest.mark.parametrize("name", GROUPS)
def test_everyday_functions(name, double):
    weights: dict[int, torch.Tensor] = {}
    inputs = double(4, 6), double(4, 6)
    for n, function in enumerate(GROUPS[name]):
        weights[n] = double(1, *function(*inputs).shape)[0]

    def loss(x, y):
        return sum((f(x, y) * weights[n]).sum() for n, f in enumerate(GROUPS[name]))

    def product(gradients):
        return sum((g * t).sum() for g, t in zip(gradients, tangents, strict=True))

    tangents = double(4, 6), double(4, 6)
    leaves = [x.clone().requires_grad_() for x in inputs]
    wanted = loss(*leaves)
    zeros = [torch.zeros_like(x) for x in inputs]
    first = torch.autograd.grad(
        wanted, leaves, create_graph=True, allow_unused=True, materialize_grads=True
    )
    along = product(first)
    second = zeros
    if along.requires_grad:
        second = torch.autograd.grad(along, leaves, allow_unused=True, materialize_grads=True)

    value, found = gradc.value_and_grad(loss, argnums=(0, 1))(*inputs)
    torch.testing.assert_close(value, wanted.detach(), rtol=1e-9, atol=1e-11)
    for mine, theirs in zip(found, first, strict=True):
        torch.testing.assert_close(mine, theirs.detach(), rtol=1e-8, atol=1e-10)
    _, tangent = gradc.jvp(loss, inputs, tangents)
    torch.testing.assert_close(tangent, along.detach(), rtol=1e-8, atol=1e-10)
    again = gradc.grad(lambda *xs: product(gradc.grad(loss, argnums=(0, 1))(*xs)), argnums=(0, 1))(
        *inputs
    )
    for mine, theirs in zip(again, second, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-8)

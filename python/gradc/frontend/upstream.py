"""Which of PyTorch's own decompositions torch-mlir needs, and which it must not get.

The two lists follow torch-mlir's importer, less the ops this frontend takes apart itself.
"""

from __future__ import annotations

import torch

aten = torch.ops.aten

# Beyond the core table: torch-mlir has no lowering for these as they are.
EXTRA = [
    aten.upsample_bilinear2d,
    aten.upsample_linear1d,
    aten.upsample_bicubic2d,
    aten.upsample_trilinear3d,
    aten.nll_loss_forward,
    aten.nll_loss2d_forward,
    aten.grid_sampler_2d,
    aten._adaptive_avg_pool2d,
    aten.full,
    aten._to_copy,
    aten.diag,
    aten.smooth_l1_loss,
    aten.huber_loss,
    aten.mse_loss,
    aten.glu,
]

# In the core table, but their parts are what torch-mlir lacks while it lowers the whole.
EXCLUDED = {
    aten.one_hot,
    aten.empty_like,
    aten.all,
    aten.eye,
    aten.isclose,
    aten.linalg_slogdet,
}

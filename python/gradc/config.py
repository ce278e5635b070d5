"""Settings: one environment variable and the limits handed to TorchDynamo."""

from __future__ import annotations

import os
from pathlib import Path

#: Dynamo compiles a function anew for each signature. Past this many, ``gradc.compile`` runs the
#: function
#: eagerly (Dynamo logs a warning) and a transform raises.
RECOMPILE_LIMIT = 64

#: Optimisation level of the code generator.
OPT_LEVEL = 3


def dump_folder() -> Path | None:
    """The folder named by ``GRADC_DUMP``, read at each compilation, or None."""
    folder = os.environ.get("GRADC_DUMP")
    return Path(folder) if folder else None

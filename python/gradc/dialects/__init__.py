"""Dialects of gradc for the ``mlir`` package: ``from gradc.dialects import grad``."""

from ._ods_common import _cext

# Where the mlir package looks for the classes of ops that it meets in a module.
_cext.globals.append_dialect_search_prefix(__name__)

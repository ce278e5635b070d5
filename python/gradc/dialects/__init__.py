"""Dialects of gradc for the ``mlir`` package: ``from gradc.dialects import grad``."""

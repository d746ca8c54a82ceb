"""The ``statelift`` command: look into snapshots, query, verify and change them."""

from .main import main

__all__ = ["main"]

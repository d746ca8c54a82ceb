"""Errors of ours as failures that Dagster shows in one line, and tries again only where that can help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from ..schemas.errors import StateliftError, StoreError


@contextmanager
def failing() -> Iterator[None]:
    """StateliftError becomes a Failure; only one of a store allows retries, the others would come again."""
    try:
        yield
    except StateliftError as error:
        raise dg.Failure(description=str(error), allow_retries=isinstance(error, StoreError)) from error

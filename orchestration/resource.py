"""What every step needs to reach the stores, and how much each does at once."""

from __future__ import annotations

import os

import dagster as dg
from pydantic import Field, PrivateAttr

from ..io.stores import Stores
from ..state_ops.job import SHARD_BYTES


class StateliftResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The stores, and the sizes of the work. Credentials and region are AWS's own settings of the process."""

    endpoint_url: str | None = Field(
        default=None, description="S3 endpoint; left out: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or AWS itself"
    )
    workers: int | None = Field(
        default=None, description="shards to cut a plan into, at least; left out: one for each processor"
    )
    shard_bytes: int = Field(default=SHARD_BYTES, description="stored bytes that a shard has, at most")

    _stores: Stores | None = PrivateAttr(default=None)

    def stores(self) -> Stores:
        """The stores: one object, and so one set of clients, for all steps of a run in this process."""
        if self._stores is None:
            self._stores = self.connect()
        return self._stores

    def connect(self) -> Stores:
        return Stores(self.endpoint_url)

    @property
    def parallelism(self) -> int:
        """How many shards run at once."""
        return self.workers or os.cpu_count() or 1

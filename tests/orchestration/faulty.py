"""A store that fails, and a job on it. Dagster loads the job by this file, to run it again from its failure."""

from __future__ import annotations

import os
from pathlib import Path

import dagster as dg
from statelift.io.stores import Stores, StoreWriter
from statelift.orchestration import StateliftResource, build_definitions
from statelift.schemas.errors import FormatError, StoreError
from statelift.state_ops.plan import Plan

#: The plan of ``job`` (a file), and the file with the number of faults that are left.
PLAN, FAULTS = "STATELIFT_TEST_PLAN", "STATELIFT_TEST_FAULTS"


class FaultyStores(Stores):
    """Opening a file to write fails, as often as the file ``faults`` says."""

    faults: Path
    transient: bool

    def open_write(self, url: str, held_bytes: int | None = None) -> StoreWriter:
        left = int(self.faults.read_text())
        if left:
            self.faults.write_text(str(left - 1))
            raise StoreError("the store is away") if self.transient else FormatError("something is odd")
        return super().open_write(url, held_bytes)


class FaultyResource(StateliftResource):
    faults: str
    transient: bool = True

    def connect(self) -> Stores:
        stores = FaultyStores(self.endpoint_url)
        stores.faults, stores.transient = Path(self.faults), self.transient
        return stores


def job() -> dg.JobDefinition:
    """The migration, with four workers and faults that trying again does not help."""
    resource = FaultyResource(workers=4, faults=os.environ[FAULTS], transient=False)
    plans = {"fraud-repair": Plan.load(os.environ[PLAN])}
    return build_definitions(plans, resource).resolve_job_def("fraud_repair_migration")

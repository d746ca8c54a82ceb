"""The snapshot that a plan reads: observed, never made."""

import hashlib
import warnings

import dagster as dg

from ..io.metadata import streams
from ..state_ops.job import opened_for
from ..state_ops.snapshot import metadata_url
from .constants import PREFIX
from .failures import failing
from .migration import Migration
from .resource import StateliftResource


def source_asset(migration: Migration, spec: dg.AssetSpec) -> dg.AssetsDefinition:
    """An observable asset whose data version is the SHA-256 of ``_metadata``, which names all other files."""

    def observe(context: dg.AssetExecutionContext, statelift: StateliftResource) -> dg.ObserveResult:
        plan = migration.plan_for(context.partition_key if context.has_partition_key else None)
        with failing():
            stores = statelift.stores()
            snapshot = opened_for(plan, plan.source, stores)
            digest = hashlib.sha256(stores.read(metadata_url(plan.source))).hexdigest()
            sizes = [snapshot.opener.open(use.handle, str(use)).size for use in streams(snapshot.metadata)]
            formats = {
                backend.format
                for operator in snapshot.operators
                for backend in operator.keyed_backends.values()
            }
        return dg.ObserveResult(
            asset_key=spec.key,
            data_version=dg.DataVersion(digest),
            metadata={
                f"{PREFIX}/source": dg.MetadataValue.path(snapshot.url),
                f"{PREFIX}/checkpoint_id": snapshot.checkpoint_id,
                f"{PREFIX}/metadata_version": snapshot.metadata.version,
                f"{PREFIX}/formats": ", ".join(sorted(formats)) or "no keyed state",
                f"{PREFIX}/operators": len(snapshot.operators),
                f"{PREFIX}/bytes": sum(sizes),
            },
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        made: dg.AssetsDefinition = dg.multi_observable_source_asset(
            name=f"{migration.name}__observe", specs=[spec]
        )(observe)
    return made

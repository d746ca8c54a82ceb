"""A migration in a project's ``defs`` folder, as YAML."""

from dataclasses import dataclass
from typing import Annotated, Any

import dagster as dg
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver

from ..state_ops.plan import Plan
from .build import migration_definitions
from .translator import StateliftTranslator, StateliftTranslatorData

Translation = TranslationFn[StateliftTranslatorData]


@dataclass
class MigrationComponent(dg.Component, dg.Resolvable):
    """One plan as assets, checks and a job. The project adds a resource ``statelift`` (StateliftResource).

    ``plan`` is a file beside the YAML, or the plan itself; ``translation`` changes the asset specs, with ``spec``
    and ``role`` (source_savepoint, audit, new_savepoint) in scope.
    """

    name: str
    plan: str | dict[str, Any]
    translation: (
        Annotated[
            Translation,
            TranslationFnResolver[StateliftTranslatorData](lambda data: {"role": data.role}),
        ]
        | None
    ) = None

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        if isinstance(self.plan, dict):
            plan = Plan.of(self.plan)
        else:
            plan = Plan.load(str(context.path / self.plan))
        return migration_definitions(plan, self.name, translator=_Translated(self.translation))


class _Translated(StateliftTranslator):
    def __init__(self, translation: Translation | None) -> None:
        self._translation = translation

    def get_asset_spec(self, data: StateliftTranslatorData) -> dg.AssetSpec:
        spec = super().get_asset_spec(data)
        return self._translation(spec, data) if self._translation else spec

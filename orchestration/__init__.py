"""The fourth floor: plans run by Dagster, as assets with checks. Nothing else here imports Dagster."""

from .build import build_definitions, migration_definitions
from .component import MigrationComponent
from .resource import StateliftResource
from .translator import StateliftTranslator, StateliftTranslatorData

__all__ = [
    "MigrationComponent",
    "StateliftResource",
    "StateliftTranslator",
    "StateliftTranslatorData",
    "build_definitions",
    "migration_definitions",
]

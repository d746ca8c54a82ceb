"""YAML files that a user wrote: plans, and what they declare of classes and Python types."""

from __future__ import annotations

from typing import Any

import yaml

from ..io.stores import Stores, normalize
from ..schemas.errors import PlanError, Where


def read_yaml(path: str, stores: Stores) -> Any:
    """What stands in the file, a path or URL. Raises PlanError naming it where that is not YAML."""
    try:
        return yaml.safe_load(stores.read(normalize(path)).decode())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"not YAML: {error}", where=Where(file=path)) from None

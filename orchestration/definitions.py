"""What ``dagster dev`` shows: the plans that STATELIFT_PLANS names, or the demo's."""

from .build import build_definitions
from .plans import plans_of_environment

defs = build_definitions(plans_of_environment())

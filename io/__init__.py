"""Floor 2, bytes: object stores, ``_metadata``, keyed formats, operator state. Imports only ``schemas``."""

"""Names that stand in Dagster's records."""

#: The namespace of all metadata keys.
PREFIX = "statelift"
#: The key of :class:`StateliftResource` among a code location's resources.
RESOURCE = "statelift"

"""Floor 4, Dagster: assets, checks, resources, definitions. The only floor that imports Dagster."""

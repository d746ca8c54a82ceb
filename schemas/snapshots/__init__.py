"""Serializer snapshots: what a savepoint says of its types, as dataclasses, read and written byte for byte."""

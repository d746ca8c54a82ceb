"""Serializer snapshots: what a savepoint says about how its state is encoded, read, written and built."""

from __future__ import annotations

from .avro import AvroSnapshot
from .base import (
    OpaqueSnapshot,
    SerializerSnapshot,
    is_known,
    read_proxy,
    read_snapshot,
    write_proxy,
    write_snapshot,
)
from .composite import CompositeSnapshot
from .kryo import KryoRegistration, KryoSnapshot
from .omap import Entry
from .pojo import PojoField, PojoSnapshot, PojoSubclass
from .simple import EnumSnapshot, GenericSnapshot, SimpleSnapshot, TtlAwareSnapshot

__all__ = [
    "AvroSnapshot",
    "CompositeSnapshot",
    "Entry",
    "EnumSnapshot",
    "GenericSnapshot",
    "KryoRegistration",
    "KryoSnapshot",
    "OpaqueSnapshot",
    "PojoField",
    "PojoSnapshot",
    "PojoSubclass",
    "SerializerSnapshot",
    "SimpleSnapshot",
    "TtlAwareSnapshot",
    "is_known",
    "read_proxy",
    "read_snapshot",
    "write_proxy",
    "write_snapshot",
]

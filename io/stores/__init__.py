"""Object stores behind one small interface: ranged reads, atomic writes, copies inside the store.

stores = Stores()
stores.read("s3://bucket/savepoint-1/_metadata")
with stores.open_write("/data/copy/_metadata") as writer:
    writer.write(data)
"""

from .base import FileInfo, Store, StoreWriter
from .stats import StoreStats
from .stores import Stores
from .urls import is_absolute, join, normalize, parent

__all__ = [
    "FileInfo",
    "Store",
    "StoreStats",
    "StoreWriter",
    "Stores",
    "is_absolute",
    "join",
    "normalize",
    "parent",
]

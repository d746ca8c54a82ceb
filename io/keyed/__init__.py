"""Keyed state: headers, composite keys, and the canonical, hashmap and RocksDB formats."""

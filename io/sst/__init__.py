"""RocksDB table files: read from ranges of the store, written in sorted order, without RocksDB."""

"""Floor 1, types: serializer snapshots, types, Arrow, value codecs, key hashing. Imports nothing of ours."""

"""``_metadata``: every version and handle kind as dataclasses, read and written byte for byte."""

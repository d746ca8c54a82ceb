"""The ``statelift`` command."""

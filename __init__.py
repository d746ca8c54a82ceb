"""Apache Flink state as data: open a snapshot that Flink wrote, read it as tables, write one Flink restores."""

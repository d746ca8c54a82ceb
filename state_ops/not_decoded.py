"""What of a state is not decoded, by reason: values that are their bytes only, keys that are null."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..schemas.codec.undecoded import TODO, Undecoded, Why, text

UNDECODED = "undecoded"


@dataclass(slots=True)
class NotDecoded:
    """Counts of values and of keys (with their namespaces and map keys) by why they are not decoded."""

    values: Counter[Why] = field(default_factory=Counter)
    keys: Counter[Why] = field(default_factory=Counter)

    def note(self, values: Undecoded | None = None, keys: Undecoded | None = None) -> None:
        """Add what of a batch is not decoded."""
        if values is not None and len(values):
            self.values += values.why()
        if keys is not None and len(keys):
            self.keys += keys.why()

    def add(self, other: NotDecoded) -> None:
        self.values += other.values
        self.keys += other.keys

    def lines(self) -> Iterator[str]:
        """``3 values are only bytes, in the column undecoded: a time is beyond …; --wide-times …``, for each reason."""
        for found, one, many in (
            (self.values, "value is only bytes", "values are only bytes"),
            (self.keys, "key is null, its bytes", "keys are null, their bytes"),
        ):
            where = f", in the column {UNDECODED}" if found is self.values else " stay as they are"
            for why, count in found.most_common():
                todo = f"; {TODO[why[0]]}" if why[0] in TODO else ""
                yield f"{count:,} {one if count == 1 else many}{where}: {text(why)}{todo}"

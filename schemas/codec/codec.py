"""A codec: one type, decoded from and encoded to whole columns of bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import FormatError
from . import ops
from .assemble import assemble
from .columns import Bytes, Positions, binary_parts
from .disassemble import disassemble
from .program import Program
from .run import run_decode, run_encode

#: Arrow's 32-bit offsets bound the text and bytes of one batch.
_MOST_BYTES = 1 << 30
_LONGEST_NAME = 1000


FAR_TIMES_TODO = "wide_times (--wide-times, in a plan wide_times: true) gives such times in their parts"

SUBCLASS_TODO = (
    "declare which class it extends, and its fields or that it is opaque (--types, in a plan types:)"
)


class DecodeError(FormatError):
    """A row that does not decode: ``row`` in the batch, ``position`` in the row's bytes, ``reason`` of ``ops``."""

    def __init__(self, reason: int, row: int, position: int, class_name: str | None = None) -> None:
        todos = {ops.FAR_TIME: FAR_TIMES_TODO, ops.SUBCLASS: SUBCLASS_TODO}
        who = f": {class_name}" if class_name else ""
        super().__init__(
            f"{ops.REASONS[reason]}{who}, at byte {position} of row {row}", todo=todos.get(reason)
        )
        self.reason, self.row, self.position = reason, row, position


@dataclass(frozen=True, slots=True)
class Codec:
    """Decodes and encodes columns of one program (from ``compile_type`` and its kin)."""

    program: Program

    @property
    def arrow_type(self) -> pa.DataType:
        return self.program.shape.arrow_type

    def decode(
        self, data: Bytes, starts: Positions, ends: Positions, *, exact: bool = True
    ) -> tuple[pa.Array, Positions]:
        """The values of the rows [starts[i], ends[i]) of ``data``, and the position behind each one.

        ``exact`` asks that a value takes up its row; without it what follows is left for the next codec.
        Raises DecodeError naming the row and the byte.
        """
        lie = ops.EXACT if exact else ops.PART
        array, stops, undecoded = self._decode(data, starts, ends, lie)
        if undecoded is not None and undecoded.any():
            raise DecodeError(ops.BAD_KRYO, int(np.flatnonzero(undecoded)[0]), 0)
        return array, stops

    def decode_most(
        self, data: Bytes, starts: Positions, ends: Positions, *, exact: bool = True
    ) -> tuple[pa.Array, Positions, npt.NDArray[np.bool_]]:
        """As :meth:`decode`, but a value of a class that the type does not know is null: the third answer tells
        which ones are (and their position is that of the row's end).
        """
        lie = (ops.EXACT if exact else ops.PART) | ops.SKIP
        array, stops, undecoded = self._decode(data, starts, ends, lie)
        none = np.zeros(len(starts), np.bool_)
        return array, stops, none if undecoded is None else undecoded

    def _decode(
        self, data: Bytes, starts: Positions, ends: Positions, lie: int
    ) -> tuple[pa.Array, Positions, npt.NDArray[np.bool_] | None]:
        total = int((ends - starts).sum()) if len(starts) else 0
        if total > _MOST_BYTES and len(starts) > 1:
            return self._decode_halves(data, starts, ends, lie)
        run = run_decode(self.program, data, starts, ends, lie, len(starts), total)
        if run.reason != ops.OK:
            start = int(starts[run.row])
            name = _class_before(data[start : run.position]) if run.reason == ops.SUBCLASS else None
            raise DecodeError(run.reason, run.row, run.position - start, name)
        bad = run.stops < 0
        rows = np.flatnonzero(~bad)
        unread: list[Positions] = []
        array = assemble(run.arena, self.program.shape, len(rows), unread)
        if len(rows) == len(starts) and not unread:
            return array, run.stops, None
        for found in unread:
            bad[rows[found]] = True
        places = np.cumsum(run.stops >= 0) - 1
        stops = np.where(bad, ends, run.stops)
        return array.take(pa.array(places, mask=bad)), stops, bad

    def _decode_halves(
        self, data: Bytes, starts: Positions, ends: Positions, lie: int
    ) -> tuple[pa.Array, Positions, npt.NDArray[np.bool_] | None]:
        half = len(starts) // 2
        first, first_stops, first_bad = self._decode(data, starts[:half], ends[:half], lie)
        second, second_stops, second_bad = self._decode(data, starts[half:], ends[half:], lie)
        bad = None
        if first_bad is not None or second_bad is not None:
            sides = ((first_bad, len(first)), (second_bad, len(second)))
            bad = np.concatenate([np.zeros(n, np.bool_) if one is None else one for one, n in sides])
        return pa.concat_arrays([first, second]), np.concatenate([first_stops, second_stops]), bad

    def decode_column(self, column: pa.Array) -> pa.Array:
        """The values of a large_binary column without nulls."""
        data, offsets = binary_parts(column)
        return self.decode(data, offsets[:-1], offsets[1:])[0]

    def encode(self, array: pa.Array, path: str = "value") -> pa.Array:
        """The bytes of each element, as large_binary. Raises EncodeError naming ``path`` and the row."""
        return run_encode(self.program, disassemble(self.program, array, path), len(array), path)

    def encode_most(
        self, array: pa.Array, undecoded: pa.Array, there: npt.NDArray[np.bool_], path: str = "value"
    ) -> pa.Array:
        """As :meth:`encode`, but a row that is not ``there`` gets the bytes that ``undecoded`` has of it, if any."""
        kept = ~there & np.asarray(undecoded.is_valid())
        if not kept.any():
            return self.encode(array, path)
        encoded = self.encode(array.filter(pa.array(~kept)), path)
        raw = undecoded.filter(pa.array(kept)).cast(pa.large_binary())
        places = np.where(kept, len(encoded) + np.cumsum(kept) - 1, np.cumsum(~kept) - 1)
        return pa.concat_arrays([encoded, raw]).take(pa.array(places))


def _class_before(data: Bytes) -> str | None:
    """The name of the subclass that ends the bytes: PojoSerializer's flag 4, a u2 length, the name."""
    for n in range(1, min(len(data) - 2, _LONGEST_NAME)):
        head = data[-n - 3 : -n].tolist()
        if head == [4, n >> 8, n & 0xFF]:
            return data[-n:].tobytes().decode(errors="replace")
    return None

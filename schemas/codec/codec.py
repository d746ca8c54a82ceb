"""A codec: one type, decoded from and encoded to whole columns of bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import FormatError
from . import ops
from .assemble import assemble
from .columns import Bytes, Positions, binary_parts
from .disassemble import disassemble
from .program import Program
from .run import Decoded, run_decode, run_encode
from .undecoded import TODO, Gap, Undecoded, class_at, is_behind, text

#: Arrow's 32-bit offsets bound the text and bytes of one batch.
_MOST_BYTES = 1 << 30


class DecodeError(FormatError):
    """A row that does not decode: ``row`` in the batch, ``position`` in the row's bytes, ``reason`` of ``ops``."""

    def __init__(self, reason: int, row: int, position: int, class_name: str | None = None) -> None:
        what = f"{text((reason, class_name))}, at byte {position} of row {row}"
        super().__init__(what, todo=TODO.get(reason))
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
        array, stops, undecoded = self._decode(data, starts, ends, ops.EXACT if exact else ops.PART)
        if len(undecoded):
            row, (reason, name) = undecoded.first()
            raise DecodeError(reason, row, 0, name)
        return array, stops

    def decode_most(
        self, data: Bytes, starts: Positions, ends: Positions, *, exact: bool = True, last: bool = True
    ) -> tuple[pa.Array, Positions, Undecoded]:
        """As :meth:`decode`, but a value that is as Flink writes it and that no column holds is null, and in the third
        answer: one of a class that the type does not know, a far time, a text that is no UTF-8.

        Of an unknown class the end is not known, and the position is that of the row's end; unless the value is
        ``last`` in its row that is an error.
        """
        lie = (ops.EXACT if exact else ops.PART) | (ops.SKIP if last else ops.SKIP_ODD)
        return self._decode(data, starts, ends, lie)

    def stops(self, data: Bytes, starts: Positions, ends: Positions) -> Positions:
        """The position behind the value of each row, whatever times and texts are in it. Raises DecodeError."""
        if self._is_too_much(starts, ends):
            half = len(starts) // 2
            both = (slice(None, half), slice(half, None))
            return np.concatenate([self.stops(data, starts[part], ends[part]) for part in both])
        return self._run(data, starts, ends, ops.PART | ops.STEP).stops

    def _is_too_much(self, starts: Positions, ends: Positions) -> bool:
        return len(starts) > 1 and int((ends - starts).sum()) > _MOST_BYTES

    def _run(self, data: Bytes, starts: Positions, ends: Positions, lie: int) -> Decoded:
        total = int((ends - starts).sum()) if len(starts) else 0
        plainly = lie & ops.PLACES  # most batches hold nothing to skip, and go faster so
        run = run_decode(self.program, data, starts, ends, plainly, len(starts), total)
        if lie != plainly and run.reason in ops.UNHELD:
            run = run_decode(self.program, data, starts, ends, lie, len(starts), total)
        if run.reason != ops.OK:
            start = int(starts[run.row])
            named = class_at(data, run.position, run.reason, self.program.kryo_numbers)
            raise DecodeError(run.reason, run.row, max(0, run.position - start), named)
        return run

    def _decode(
        self, data: Bytes, starts: Positions, ends: Positions, lie: int
    ) -> tuple[pa.Array, Positions, Undecoded]:
        if self._is_too_much(starts, ends):
            half = len(starts) // 2
            first, first_stops, before = self._decode(data, starts[:half], ends[:half], lie)
            second, second_stops, behind = self._decode(data, starts[half:], ends[half:], lie)
            stops = np.concatenate([first_stops, second_stops])
            return pa.concat_arrays([first, second]), stops, before.then(behind)
        run = self._run(data, starts, ends, lie)
        left_out = run.reasons != ops.OK
        rows = np.flatnonzero(~left_out)
        gaps: list[Gap] = []
        array = assemble(run.arena, self.program.shape, len(rows), gaps)
        if len(rows) == len(starts) and not gaps:
            return array, run.stops, Undecoded.none(len(starts))
        gaps = [Gap.of(data, run.stops, run.reasons), *(replace(gap, rows=rows[gap.rows]) for gap in gaps)]
        bad = left_out.copy()
        for gap in gaps:
            bad[gap.rows] = True
        places = np.cumsum(~left_out) - 1
        stops = np.where(left_out & ~is_behind(run.reasons), ends, run.stops)
        undecoded = Undecoded(mask=bad, gaps=gaps, numbers=self.program.kryo_numbers)
        return array.take(pa.array(places, mask=bad)), stops, undecoded

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

"""What the engine writes down while it runs: flat numbers, turned into columns at the end."""

from array import array
from collections.abc import Collection
from math import nan
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from sim.records import FloatArray, IntArray, Leaps, Status

LEAP, _PASSES, _STINT, _REACH = Struct("16d"), Struct("d"), Struct("6q"), Struct("4d")
_PASSES_AT = 4 * _PASSES.size


class Log:
    """Times of each request, leaps and decode stints of each replica, and who was inside when."""

    def __init__(self, rows: int) -> None:
        never = array("d", [nan]) * rows
        self.arrival_s, self.admitted_s = never, never[:]
        self.first_token_s, self.last_token_s = never[:], never[:]
        zero = array("q", [0]) * rows
        self.replica = array("q", [-1]) * rows
        self.status = array("q", [int(Status.UNFINISHED)]) * rows
        self.preemptions, self.chunks = zero, zero[:]
        self.leaps, self._stints, self._reaches = bytearray(), bytearray(), bytearray()
        """Leaps as they stand at their first pass: rows of `LEAP`; `columns` tells the order."""
        self.pauses: list[tuple[int, float]] = []
        """(row, gap in s) from the last token before a preemption to the next one."""

    def finished(self, row: int, replica: int, now_s: float) -> None:
        """Note the end of a request."""
        self.last_token_s[row] = now_s
        self.replica[row] = replica

    def reach(self, *columns: float) -> None:
        """Append, for the leap just written, what the layers of the next reach read and pair."""
        self._reaches += _REACH.pack(*columns)

    def stint(self, *columns: int) -> None:
        """Append a stint: row, replica, first pass, end pass, passes per chunk, done before."""
        self._stints += _STINT.pack(*columns)

    @property
    def stints(self) -> IntArray:
        """The stints, shape [stints, 6]."""
        return np.frombuffer(self._stints, dtype=np.int64).reshape(-1, 6)

    def shorten(self, place: int, passes: int) -> None:
        """Let the leap that stands at `place` in `leaps` end after `passes` passes."""
        _PASSES.pack_into(self.leaps, place + _PASSES_AT, passes)

    def columns(self, in_flight: Collection[int] = ()) -> Leaps:
        """Return the leaps as named columns, with the sums over their passes; empties the log.

        Those `in_flight`, by their place, did not come to their end and are left out.
        """
        table = np.frombuffer(self.leaps, dtype=np.float64).reshape(-1, 16)
        ended = np.ones(len(table), dtype=bool)
        ended[[place // LEAP.size for place in in_flight]] = False
        rows = table[ended].T
        self.leaps = bytearray()
        (replica, start_s, first_s, slope_s, passes, sequences, positions, logits) = rows[:8]
        (read, growth, pairs, pairs_growth, held, prefill_s, draft_s, draft_slope_s) = rows[8:]
        later = passes * (passes - 1) / 2
        return Leaps(
            replica=replica.astype(np.int64),
            start_s=start_s.copy(),
            first_s=first_s.copy(),
            slope_s=slope_s.copy(),
            passes=passes.astype(np.int64),
            sequences=sequences.copy(),
            positions=passes * positions,
            logit_positions=passes * logits,
            context_tokens=passes * read + later * growth,
            pairs=passes * pairs + later * pairs_growth,
            kv_used_tokens=held + passes * growth,
            prefill_s=prefill_s.copy(),
            draft_s=passes * draft_s + later * draft_slope_s,
            capped=self._capped(passes, later, ended),
        )

    def _capped(
        self, passes: FloatArray, later: FloatArray, ended: NDArray[np.bool_]
    ) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Sums over the passes of each leap, for each reach: KV tokens read, and pairs."""
        rows = np.frombuffer(self._reaches, dtype=np.float64)
        if not len(rows):
            return ()
        table = rows.reshape(len(ended), -1, 4)[ended]
        return tuple(
            (
                passes * table[:, reach, 0] + later * table[:, reach, 1],
                passes * table[:, reach, 2] + later * table[:, reach, 3],
            )
            for reach in range(table.shape[1])
        )

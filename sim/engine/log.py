"""What the engine writes down while it runs: flat numbers, turned into columns at the end."""

from array import array
from math import nan
from struct import Struct

import numpy as np

from sim.records import FloatArray, IntArray, Leaps, Status

LEAP, _STINT, _REACH = Struct("16d"), Struct("6q"), Struct("4d")


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
        """Leaps as they stood at their first pass: rows of `LEAP`; `columns` tells the order."""
        self.pauses: list[tuple[int, float]] = []
        """(row, gap in s) from the last token before a preemption to the next one."""
        self.since_s = array("d")
        """Of each stint, where that is kept: when the last token before it was seen."""
        self.paused = array("q")
        """Numbers of the leaps in which the decode batch stood still."""
        self.delays = array("d")
        """Of each leap, where a front end hands tokens out: its work left at the start [s], work
        that each pass adds [s], and what the prompts that end add [s]."""
        self.shown: list[tuple[int, int, float]] = []
        """(replica, row, time in s) of chunks that come with no pass of a stint."""
        self.entered_s = array("d")
        self.left_s = array("d")

    def reach(self, *columns: float) -> None:
        """Append, for the leap just written, what the layers of the next reach read and pair."""
        self._reaches += _REACH.pack(*columns)

    def stint(self, *columns: int) -> None:
        """Append a stint: row, replica, first pass, end pass, passes per chunk, done before."""
        self._stints += _STINT.pack(*columns)

    @property
    def leap_count(self) -> int:
        """Leaps written down so far."""
        return len(self.leaps) // LEAP.size

    @property
    def stints(self) -> IntArray:
        """The stints, shape [stints, 6]."""
        return np.frombuffer(self._stints, dtype=np.int64).reshape(-1, 6)

    def finished(self, row: int, replica: int, now_s: float) -> None:
        """Note the end of a request."""
        self.last_token_s[row] = now_s
        self.replica[row] = replica
        self.status[row] = int(Status.FINISHED)
        self.left_s.append(now_s)

    def columns(self) -> Leaps:
        """Return the leaps as named columns, with the sums over their passes; empties the log."""
        rows = np.frombuffer(self.leaps, dtype=np.float64).reshape(-1, 16).T
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
            capped=self._capped(passes, later),
        )

    def _capped(
        self, passes: FloatArray, later: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Sums over the passes of each leap, for each reach: KV tokens read, and pairs."""
        rows = np.frombuffer(self._reaches, dtype=np.float64)
        if not len(rows):
            return ()
        table = rows.reshape(len(passes), -1, 4)
        return tuple(
            (
                passes * table[:, reach, 0] + later * table[:, reach, 1],
                passes * table[:, reach, 2] + later * table[:, reach, 3],
            )
            for reach in range(table.shape[1])
        )

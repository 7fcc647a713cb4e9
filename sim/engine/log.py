"""What the engine writes down while it runs: flat numbers, turned into columns at the end."""

from array import array
from collections.abc import Collection
from math import nan
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.records import FloatArray, IntArray, Leaps, Status, StepSeries

LEAP, _PASSES, _STINT, _REACH = Struct("16d"), Struct("d"), Struct("6q"), Struct("4d")
_PASSES_AT = 4 * _PASSES.size
_ROWS_AT_ONCE = 4096
"""Rows of leaps that fit into a core's own cache (0.5 MB): a column of the whole table would be
one number out of each of its lines."""


class HabitLog:
    """What only replicas with habits write down; leaps by their place among all."""

    def __init__(self) -> None:
        self.since_s = array("d")
        """Of each stint: when the last token before it was seen."""
        self.paused = array("q")
        """Leaps in which the decode batch stood still."""
        self.delays = array("d")
        """Rows of four: leap; the front end's work left at its start, work that each pass adds,
        and work of the prompts that end [s]."""
        self.shown: list[tuple[int, int, float]] = []
        """(replica, row, time in s) of chunks that come with no pass of a stint."""
        self.by_chunk = False
        """Tokens of any pass may go out with those of others: no gap is simply a pass."""
        self.numbers: IntArray = np.zeros(0, dtype=np.int64)
        """Number of each leap among those that came to their end; -1 if it did not."""

    def standing(self) -> IntArray:
        """Return the `paused` that came to their end, by number."""
        numbers = self.numbers[np.array(self.paused, dtype=np.int64)]
        return np.asarray(numbers[numbers >= 0])


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
        self.cached_tokens = zero[:]
        self.leaps, self._stints, self._reaches = bytearray(), bytearray(), bytearray()
        """Leaps as they stand at their first pass: rows of `LEAP`; `columns` tells the order."""
        self.pauses: list[tuple[int, float]] = []
        """(row, gap in s) from the last token before a preemption to the next one."""
        self.habits = HabitLog()

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
        self.leaps = bytearray()
        ended = np.ones(len(table), dtype=bool)
        ended[[place // LEAP.size for place in in_flight]] = False
        self.habits.numbers = np.where(ended, np.cumsum(ended) - 1, -1)
        rows = int(ended.sum())
        columns = {name: np.empty(rows, few.dtype) for name, few in _leaps(table[:0]).items()}
        filled = 0
        for start in range(0, len(table), _ROWS_AT_ONCE):
            there = slice(start, start + _ROWS_AT_ONCE)
            part = _leaps(table[there][ended[there]])
            here = slice(filled, filled + len(part["passes"]))
            for name, values in part.items():
                columns[name][here] = values
            filled = here.stop
        passes = columns["passes"].astype(np.float64) if self._reaches else np.zeros(0)
        capped = self._capped(passes, passes * (passes - 1) / 2, ended)
        return Leaps(**columns, capped=capped)

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


def _leaps(table: FloatArray) -> dict[str, NDArray[Any]]:
    """Return the columns of a few leaps, by name, with the sums over their passes."""
    column = np.ascontiguousarray(table.T)
    passes = column[4]
    later = passes * (passes - 1) / 2
    return {
        "replica": column[0].astype(np.int64),
        "start_s": column[1],
        "first_s": column[2],
        "slope_s": column[3],
        "passes": passes.astype(np.int64),
        "sequences": column[5],
        "positions": passes * column[6],
        "logit_positions": passes * column[7],
        "context_tokens": passes * column[8] + later * column[9],
        "pairs": passes * column[10] + later * column[11],
        "kv_used_tokens": column[12] + passes * column[9],
        "prefill_s": column[13],
        "draft_s": passes * column[14] + later * column[15],
    }


def in_system(entered_s: np.ndarray, left_s: np.ndarray) -> StepSeries:
    """Count the requests inside after each entering and leaving."""
    times = np.concatenate([entered_s, left_s])
    steps = np.concatenate([np.ones(len(entered_s), np.int8), -np.ones(len(left_s), np.int8)])
    order = np.argsort(times, kind="stable")
    return StepSeries(time_s=times[order], count=np.cumsum(steps[order], dtype=np.int64))

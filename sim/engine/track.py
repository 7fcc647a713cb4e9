"""The decode passes of one replica in time, worked out from its leaps."""

from dataclasses import dataclass

import numpy as np

from sim.engine.log import Log
from sim.records import FloatArray, IntArray, Leaps


@dataclass(frozen=True, slots=True)
class Track:
    """The leaps in which a replica decodes, with the pass count at which each starts."""

    first_pass: IntArray
    start_s: FloatArray
    first_s: FloatArray
    slope_s: FloatArray
    passes: IntArray
    delays: FloatArray | None = None
    """Work of a front end, as in `Log.delays`, shape [leaps, 3]."""

    @classmethod
    def of(cls, leaps: Leaps, replica: int, log: Log) -> "Track":
        """Return the leaps of one replica, without those in which the batch stood still."""
        mine = leaps.replica == replica
        habits = log.habits
        if habits.paused:
            mine[habits.standing()] = False
        passes, delays = leaps.passes[mine], None
        if habits.delays:
            table = np.frombuffer(habits.delays).reshape(-1, 4)
            whole = np.zeros((len(mine), 3))
            whole[habits.numbers[table[:, 0].astype(np.int64)]] = table[:, 1:]  # all have ended
            delays = whole[mine]
        return cls(
            first_pass=np.cumsum(passes) - passes,
            start_s=leaps.start_s[mine],
            first_s=leaps.first_s[mine],
            slope_s=leaps.slope_s[mine],
            passes=passes,
            delays=delays,
        )

    def leap_of(self, passes: IntArray) -> IntArray:
        """Index of the leap that holds each pass."""
        return np.searchsorted(self.first_pass, passes, side="right") - 1

    def end_s(self, passes: IntArray) -> FloatArray:
        """Time at which the tokens of each pass (by its index) are seen."""
        leap = self.leap_of(passes)
        number = (passes - self.first_pass[leap] + 1).astype(np.float64)
        took_s = self.took_s(leap, number)
        return self.start_s[leap] + took_s + self.delay_s(leap, number, took_s)

    def took_s(self, leap: IntArray, number: FloatArray) -> FloatArray:
        """Time from the start of a leap to the end of its pass `number` (from 1)."""
        slope = self.slope_s[leap] * (number * (number - 1) / 2)
        return number * self.first_s[leap] + slope

    def delay_s(
        self, leap: IntArray, number: FloatArray, took_s: FloatArray
    ) -> FloatArray | float:
        """Time from the end of a pass until its tokens are seen: the front end's work then."""
        if self.delays is None:
            return 0.0
        before_s, work_s, prompts_s = self.delays[leap].T
        later_s = (number - 1) * work_s
        left_s = np.maximum(later_s - (took_s - self.first_s[leap]), before_s + later_s - took_s)
        delay_s: FloatArray = np.maximum(0.0, left_s) + work_s + prompts_s
        return delay_s


def range_max(values: FloatArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return the maximum of `values[low:high]` for each pair: a sparse table by levels."""
    result = np.full(len(low), -np.inf)
    length = high - low
    level, table = 1, values
    while level <= (length.max() if len(length) else 0):
        use = (length >= level) & (length < 2 * level)
        if use.any():
            result[use] = np.maximum(table[low[use]], table[high[use] - level])
        table = np.maximum(table[:-level], table[level:]) if len(table) > level else table
        level *= 2
    return result

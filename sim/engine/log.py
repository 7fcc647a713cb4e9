"""What the engine writes down while it runs: flat numbers, turned into columns at the end."""

from array import array

import numpy as np

from sim.records import FloatArray, Leaps

_LEAP = 13


class Log:
    """Leaps, decode stints and the entering and leaving of requests."""

    __slots__ = ("entered_s", "left_s", "leaps", "pauses", "stints")

    def __init__(self) -> None:
        self.leaps = array("d")
        """Rows of 13, as `Leaps` with the replica's pass count in place of nothing else."""
        self.stints = array("q")
        """Rows of 6: row, replica, first pass, end pass, passes per chunk, passes done before in the phase."""
        self.pauses: list[tuple[int, float]] = []
        """(row, gap in s) between the last token before a preemption and the next."""
        self.entered_s = array("d")
        self.left_s = array("d")

    def leap_rows(self) -> FloatArray:
        """Return the leaps as an array of shape [leaps, 13]."""
        return np.frombuffer(self.leaps, dtype=np.float64).reshape(-1, _LEAP)

    def columns(self) -> Leaps:
        """Return the leaps as named columns."""
        rows = self.leap_rows()
        return Leaps(
            replica=rows[:, 0].astype(np.int64),
            start_s=rows[:, 1],
            first_s=rows[:, 2],
            slope_s=rows[:, 3],
            passes=rows[:, 4].astype(np.int64),
            sequences=rows[:, 5],
            positions=rows[:, 6],
            logit_positions=rows[:, 7],
            context_tokens=rows[:, 8],
            pairs=rows[:, 9],
            kv_used_tokens=rows[:, 10],
            prefill_s=rows[:, 11],
            draft_s=rows[:, 12],
        )

"""What the engine writes down while it runs: flat numbers, turned into columns at the end."""

from array import array
from math import nan

import numpy as np

from sim.records import Leaps, Status

_LEAP_COLUMNS = 13


class Log:
    """Times of each request, leaps and decode stints of each replica, and who was inside when."""

    def __init__(self, rows: int) -> None:
        self.arrival_s = [nan] * rows
        self.admitted_s = [nan] * rows
        self.first_token_s = [nan] * rows
        self.last_token_s = [nan] * rows
        self.replica = [-1] * rows
        self.preemptions = [0] * rows
        self.status = [int(Status.UNFINISHED)] * rows
        self.chunks = [0] * rows
        self.leaps = array("d")
        """Rows of 13: the columns of `Leaps`, in order."""
        self.stints = array("q")
        """Rows of 6: row, replica, first pass, end pass, passes per chunk, passes done before in the phase."""
        self.pauses: list[tuple[int, float]] = []
        """(row, gap in s) from the last token before a preemption to the next one."""
        self.entered_s = array("d")
        self.left_s = array("d")
        self.boundaries = 0
        """Decisions between two leaps, over all replicas."""

    def finished(self, row: int, replica: int, now_s: float) -> None:
        """Note the end of a request."""
        self.last_token_s[row] = now_s
        self.replica[row] = replica
        self.status[row] = int(Status.FINISHED)
        self.left_s.append(now_s)

    def columns(self) -> Leaps:
        """Return the leaps as named columns."""
        rows = np.frombuffer(self.leaps, dtype=np.float64).reshape(-1, _LEAP_COLUMNS)
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

"""Tokens that wait for the front end, counted in requests."""

from dataclasses import dataclass

import numpy as np

from sim.metrics.quantities import finished
from sim.metrics.window import Window
from sim.records import FloatArray, FrontEnd, RequestRecords, Simulation


@dataclass(frozen=True, slots=True)
class Backlog:
    """The work that front ends have before them."""

    front_end: FrontEnd
    request_s: float
    """Work of a mean request, s."""

    @classmethod
    def of(cls, simulation: Simulation) -> "Backlog | None":
        """Return that of a run; `None` where tokens are seen when they are made."""
        front_end, done = simulation.front_end, int(finished(simulation.records).sum())
        work_s = 0.0 if front_end is None else float(front_end.work_s.sum())
        return None if front_end is None or not work_s else cls(front_end, work_s / max(done, 1))

    def at(self, time_s: FloatArray) -> FloatArray:
        """Return how many mean requests wait at some times, s."""
        left_s: FloatArray = sum(self._of_each(time_s), np.zeros(len(time_s)))
        return left_s / self.request_s

    def _of_each(self, time_s: FloatArray) -> list[FloatArray]:
        """Return the work left at some times, s: a straight line between beginnings of passes."""
        replica, ours = self.front_end.replica, self.front_end
        return [
            np.interp(time_s, ours.time_s[replica == one], ours.left_s[replica == one])
            for one in np.unique(replica)
        ]

    def saturated(
        self, records: RequestRecords, last_arrival_s: float
    ) -> tuple[Window | None, int]:
        """Return when all front ends were busy, and how many answers were through then.

        That is from the time when the last of them had nothing to do, until one of them has
        handed out what was there at the last arrival. The first half of it is left out, since
        what was made before the work piled up was handed out at once; the window begins and ends
        with a completion, and the first one is not counted.
        """
        ours, before = self.front_end, self.front_end.time_s <= last_arrival_s
        idle_s = ours.time_s[before & (ours.left_s == 0)]
        start_s = float(idle_s.max()) if len(idle_s) else float(ours.time_s.min())
        end_s = last_arrival_s + min(
            float(left_s[0]) for left_s in self._of_each(np.array([last_arrival_s]))
        )
        done_s = np.sort(records.last_token_s[finished(records)])
        inside = done_s[(done_s > start_s) & (done_s <= end_s)]
        later = inside[len(inside) // 2 :]
        if len(later) < 2 or later[0] == later[-1]:
            return None, 0
        return Window(float(later[0]), float(later[-1]), steady_state=True), len(later)

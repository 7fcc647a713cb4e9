"""How much of a rate that varies was run, where a run ends before its course does."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sim.report.words import significant
from sim.run import Outcome
from sim.units import SECONDS_PER_HOUR
from sim.workload import Varying, Windows

_HOURS_FROM_S: Final = 2 * SECONDS_PER_HOUR
"""Times from here on are said in hours."""


@dataclass(frozen=True, slots=True)
class PartOfCourse:
    """The beginning of a course of rates, which is all that was run."""

    simulated_s: float
    """Until the last counted arrival, s."""
    course_s: float
    course_requests: int
    """Mean number of arrivals in the whole course."""
    offered_requests_per_s: float | None
    """What was really offered, mean over the part that was run."""
    mean_requests_per_s: float
    peak_requests_per_s: float
    """Of the whole course, as its mean."""

    @property
    def load(self) -> str:
        """Return what was offered, and when."""
        rate = self.offered_requests_per_s
        what = "the arrivals" if rate is None else f"{significant(rate)} requests/s"
        return f"{what} in the first {time_label(self.simulated_s)}"

    @property
    def left_out(self) -> str:
        """Say that the course was not run, and what it takes."""
        course = (
            f"{time_label(self.course_s)}, mean {significant(self.mean_requests_per_s)},"
            f" peak {significant(self.peak_requests_per_s)} requests/s"
        )
        return (
            f"only the first {time_label(self.simulated_s)} of the course ({course}) was run:"
            f" raise run.requests (all of it: {self.course_requests:,})"
        )

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "simulated_s": self.simulated_s,
            "course_s": self.course_s,
            "course_requests": self.course_requests,
            "offered_requests_per_s": self.offered_requests_per_s,
            "course_mean_requests_per_s": self.mean_requests_per_s,
            "course_peak_requests_per_s": self.peak_requests_per_s,
            "note": self.left_out,
        }


def part_of_course(outcome: Outcome) -> PartOfCourse | None:
    """Return the part that was run; `None` where that is the whole course, or there is none."""
    arrivals, simulation = outcome.scenario.workload.arrivals, outcome.simulation
    if not isinstance(arrivals, Varying | Windows):
        return None
    curve = arrivals.curve()
    last_s = float(np.nanmax(simulation.records.arrival_s[: simulation.measured]))
    if simulation.measured >= curve.requests or last_s >= curve.period_s:
        return None
    return PartOfCourse(
        simulated_s=last_s,
        course_s=curve.period_s,
        course_requests=int(np.ceil(curve.requests)),
        offered_requests_per_s=outcome.metrics.throughput.offered_requests_per_s,
        mean_requests_per_s=arrivals.mean_requests_per_s,
        peak_requests_per_s=float(max(curve.left.max(), curve.right.max())),
    )


def time_label(time_s: float) -> str:
    """Return a time since the run began.

    >>> time_label(90.4), time_label(45_000.0), time_label(1.26)
    ('90 s', '12.5 h', '1.3 s')
    """
    if time_s < 10:
        return f"{time_s:.1f} s" if time_s % 1 else f"{time_s:.0f} s"
    if time_s < _HOURS_FROM_S:
        return f"{time_s:.0f} s"
    return f"{time_s / SECONDS_PER_HOUR:.1f} h".replace(".0 h", " h")

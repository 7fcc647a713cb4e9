"""The stretch of simulated time that is measured, and what falls inside it."""

from dataclasses import dataclass

import numpy as np

from sim.metrics.quantities import BoolArray, engine_ttlt_s, finished
from sim.records import FloatArray, Leaps, RequestRecords, Simulation, Status, StepSeries


@dataclass(frozen=True, slots=True)
class Window:
    """From `start_s` to `end_s` of simulated time, s."""

    start_s: float
    end_s: float
    steady_state: bool
    """The traffic goes on at the end: an arrival at the end itself belongs to what follows."""

    @property
    def length_s(self) -> float:
        """Length, s."""
        return self.end_s - self.start_s

    def arrivals(self, records: RequestRecords) -> BoolArray:
        """Tell which requests arrive inside."""
        at = records.arrival_s
        before_end = at < self.end_s if self.steady_state else at <= self.end_s
        return np.asarray((at >= self.start_s) & before_end)

    def completions(self, records: RequestRecords) -> BoolArray:
        """Tell which requests finish inside, whenever they arrived.

        One that finishes as the window begins was served before it.
        """
        at = records.last_token_s
        return np.asarray(finished(records) & (at > self.start_s) & (at <= self.end_s))


def measurement_window(counted: RequestRecords, *, steady_state: bool) -> Window | None:
    """Return the window of the counted requests; `None` where it has no length.

    Steady state: first to last counted arrival, so that both ends are under load. Else from the
    first arrival to the last thing that is known to have happened.
    """
    arrivals = counted.arrival_s[~np.isnan(counted.arrival_s)]
    if len(arrivals) == 0:
        return None
    end_s = float(arrivals.max())
    ends = counted.last_token_s[finished(counted)]
    if not steady_state and len(ends):
        end_s = max(end_s, float(ends.max()))
    window = Window(float(arrivals.min()), end_s, steady_state)
    return window if window.length_s > 0 else None


def share_inside(leaps: Leaps, window: Window) -> FloatArray:
    """Return which share of each leap's time lies in the window."""
    duration_s = leaps.duration_s
    start = np.maximum(leaps.start_s, window.start_s)
    end = np.minimum(leaps.start_s + duration_s, window.end_s)
    inside_s = np.where(end > start, end - start, 0.0)
    lasting = duration_s > 0
    share = np.where(lasting, inside_s / np.where(lasting, duration_s, 1.0), 0.0)
    whole = (leaps.start_s >= window.start_s) & (leaps.start_s + duration_s <= window.end_s)
    return np.where(whole, 1.0, share)


def time_average(series: StepSeries, window: Window) -> float:
    """Return the mean of a count over the window, integrated exactly; 0 before its first step."""
    edges = np.clip(series.time_s, window.start_s, window.end_s)
    lengths = np.diff(np.append(edges, window.end_s))
    return float((lengths * series.count).sum()) / window.length_s


@dataclass(frozen=True, slots=True)
class LittlesLaw:
    """Both sides of L = arrival rate x W, in requests, each from its own source."""

    lhs: float | None
    """Requests in the system, averaged over the window, from engine events."""
    rhs: float | None
    """Arrival rate x mean time in the system, from the records of arrivals in the window."""


def littles_law(simulation: Simulation, window: Window | None) -> LittlesLaw:
    """Return both sides; the right one is unknown while an arrival of the window is unfinished."""
    if window is None:
        return LittlesLaw(None, None)
    lhs = time_average(simulation.in_system, window)
    records = simulation.records
    arrived = window.arrivals(records)
    if np.any(records.status[arrived] == Status.UNFINISHED):
        return LittlesLaw(lhs, None)
    # The rejected leave at once: they add arrivals but no time.
    inside_s = float(engine_ttlt_s(records)[arrived & finished(records)].sum())
    return LittlesLaw(lhs, inside_s / window.length_s)

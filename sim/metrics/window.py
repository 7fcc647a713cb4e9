"""The stretch of simulated time that is measured, and what falls inside it."""

from dataclasses import dataclass

import numpy as np

from sim.metrics.quantities import BoolArray, finished
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
    """Both sides of L = arrival rate x W over one window, in requests, each from its own source.

    Time counts where it falls inside the window, also that of requests which arrived before it or
    leave after it. So both sides are the same number, and differ by rounding only.
    """

    lhs: float | None
    """Requests in the system, averaged over the window, from engine events."""
    rhs: float | None
    """Time that the requests spend in the system inside the window / its length, from records."""


def littles_law(simulation: Simulation, window: Window | None) -> LittlesLaw:
    """Return both sides; `None` without a window."""
    if window is None:
        return LittlesLaw(None, None)
    lhs = time_average(simulation.in_system, window)
    records = simulation.records
    # The rejected leave at once: they add arrivals but no time. The unfinished never leave.
    inside = (records.status != Status.REJECTED) & ~np.isnan(records.arrival_s)
    came_s = np.clip(records.arrival_s[inside], window.start_s, window.end_s)
    gone_s = np.nan_to_num(records.last_token_s[inside], nan=np.inf)
    inside_s = float((np.clip(gone_s, window.start_s, window.end_s) - came_s).sum())
    return LittlesLaw(lhs, inside_s / window.length_s)

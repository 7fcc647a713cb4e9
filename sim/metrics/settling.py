"""Whether a run is long beside the time in which its load forgets itself."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.metrics.intervals import Interval
from sim.metrics.window import Window
from sim.records import FloatArray, Simulation, StepSeries

STRETCHES: Final = 24
"""Stretches of equal time over which the number inside is averaged."""
ALIKE: Final = 0.4
"""Lag-1 autocorrelation of the stretches from which on a run counts as short: of 24 stretches that
do not resemble each other, 2 or 3 runs in 100 show as much by chance."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A run that is short beside the time in which its load forgets itself."""

    stretches: float
    """So many independent stretches are in the run: 24 (1 - r) / (1 + r)."""

    @property
    def unseen(self) -> float:
        """Share of time that a kind of load which the run did not show may take.

        The exact bound of Clopper and Pearson for none in so many: 95 % one-sided.
        """
        return float(1 - 0.05 ** (1 / self.stretches))

    def widen(self, interval: Interval) -> Interval:
        """Return the interval of a share: what was not seen may be all misses, or all hits."""
        low, high = interval
        return (low * (1 - self.unseen), high * (1 - self.unseen) + self.unseen)


def stretch_means(series: StepSeries, window: Window) -> FloatArray:
    """Return the mean of a count over equal stretches of the window, integrated exactly."""
    edges = np.linspace(window.start_s, window.end_s, STRETCHES + 1)
    if len(series.time_s) == 0:
        return np.zeros(STRETCHES)
    area = np.concatenate([[0.0], np.cumsum(np.diff(series.time_s) * series.count[:-1])])
    place = np.searchsorted(series.time_s, edges, side="right") - 1
    since_s = edges - series.time_s[np.maximum(place, 0)]
    until = np.where(place < 0, 0.0, area[place] + since_s * series.count[place])
    return np.asarray(np.diff(until) * STRETCHES / window.length_s)


def memory(simulation: Simulation, window: Window | None) -> Memory | None:
    """Say how few independent stretches a run of steady traffic holds; `None`: enough of them.

    Near capacity the number inside drifts for minutes, and a run of that length shows one such
    drift: its requests agree with each other, not with those of the next run. What tells is the
    lag-1 autocorrelation r of the number inside, averaged over 24 stretches of the window.
    """
    if window is None or simulation.closed_loop or not simulation.steady_state:
        return None  # a trace and a benchmark speak for themselves, drifts included
    means = stretch_means(simulation.in_system, window)
    deviations = means - means.mean()
    total = float(deviations @ deviations)
    r = 0.0 if total == 0 else float(deviations[1:] @ deviations[:-1]) / total
    return Memory(STRETCHES * (1 - r) / (1 + r)) if r >= ALIKE else None

"""Two runs of the same requests, compared request by request: common random numbers at work.

Both see the same arrivals and lengths, so what is alike in both cancels out of a difference, and
its interval is far narrower than those of the two numbers. A resample draws the same batches of
requests from both runs.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from sim.metrics.intervals import (
    Interval,
    batch_count,
    batch_labels,
    student_t95,
)
from sim.metrics.percentiles import needed, resample_weights
from sim.records import FloatArray

Statistic = Literal["mean", "p50", "p90", "p99"]
STATISTICS: Final[tuple[Statistic, ...]] = ("mean", "p50", "p90", "p99")


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one statistic between two runs, in the unit of the column."""

    value: float
    """The second less the first."""
    interval: Interval | None
    """90 %; `None` for too few requests."""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves no doubt which of the two is larger."""
        return self.interval is not None and not self.interval[0] <= 0.0 <= self.interval[1]


def differences(first: FloatArray, second: FloatArray, seed: int) -> dict[Statistic, Difference]:
    """Return second - first of each statistic, over requests that have a value in both.

    Rows of the two columns are the same requests, in order of arrival. A percentile that needs
    more requests than there are is left out. The ends are those of the expanded percentile
    interval (Hesterberg 2015), as elsewhere in this package.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    one, two = first[both], second[both]
    count = len(one)
    wanted = [name for name in STATISTICS if count and count >= _least(name)]
    batches = batch_count(count)
    if not batches:
        return {name: Difference(_plain(two, name) - _plain(one, name), None) for name in wanted}
    weights = resample_weights(seed, batches)
    labels = batch_labels(count, batches)
    low, high = _tails(batches)
    drawn_one, drawn_two = (_resampled(column, labels, weights, wanted) for column in (one, two))
    found = {}
    for name in wanted:
        ends = np.quantile(drawn_two[name] - drawn_one[name], [low, high])
        value = _plain(two, name) - _plain(one, name)
        found[name] = Difference(value, (float(ends[0]), float(ends[1])))
    return found


def _least(name: Statistic) -> int:
    return 1 if name == "mean" else needed(_share(name))


def _share(name: Statistic) -> float:
    return int(name[1:]) / 100


def _plain(column: FloatArray, name: Statistic) -> float:
    return float(column.mean() if name == "mean" else np.quantile(column, _share(name)))


def _tails(batches: int) -> tuple[float, float]:
    """Return the shares of the resamples that lie outside, as if there were few batches."""
    sigmas = student_t95(batches - 1) * math.sqrt(batches / (batches - 1))
    outside = math.erfc(sigmas / math.sqrt(2)) / 2
    return outside, 1 - outside


def _resampled(
    column: FloatArray, labels: np.ndarray, weights: FloatArray, wanted: list[Statistic]
) -> dict[Statistic, FloatArray]:
    """Return the statistics of every resample, which is a set of weights on the batches."""
    order = np.argsort(column)
    ordered, batch = column[order], labels[order]
    sizes = np.bincount(labels, minlength=weights.shape[1]).astype(np.float64)
    sums = np.bincount(labels, weights=column, minlength=weights.shape[1])
    found = {name: np.empty(len(weights)) for name in wanted}
    if "mean" in found:
        found["mean"] = (weights @ sums) / (weights @ sizes)
    shares = {name: _share(name) for name in wanted if name != "mean"}
    for number, of_batch in enumerate(weights):
        reached = np.cumsum(of_batch[batch])
        for name, share in shares.items():
            place = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
            found[name][number] = ordered[min(place, len(ordered) - 1)]
    return found

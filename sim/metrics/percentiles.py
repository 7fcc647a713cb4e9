"""Percentiles of values in a row, and how sure they are: a bootstrap over batches.

The slow requests come in bursts, so what counts is not how many of them there are but how many
bursts they came in. Two methods give the interval, and it holds both: the bootstrap draws whole
batches; the other asks between which ranks a count of bursts leaves the percentile. Where the
bursts are too few for an upper end, there is no interval. All intervals are 90 %.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sim.metrics.intervals import (
    Interval,
    batch_count,
    batch_labels,
    correlation_factor,
    student_t95,
)
from sim.records import FloatArray, IntArray

RESAMPLES: Final = 400
CANDIDATES: Final = 1024
"""Order statistics among which a resampled percentile is looked up; a quarter up to p95, where
neighbours lie close."""
LEVELS: Final = (1, 2, 3, 5)
"""Multiples of the share above a percentile at which the size of bursts is looked at."""

PLENTY: Final = 15
"""Values above a percentile per batch from which on bursts are seen at the percentile itself."""

Likeness = Callable[[FloatArray], float]
"""By how much neighbouring batches that are alike raise the variance of their mean."""


def needed(share: float) -> int:
    """Return how many finished requests a percentile needs: 10 / (1 - share).

    >>> needed(0.99)
    1000
    """
    return round(10 / (1 - share))


def percentile(ordered: FloatArray, share: float) -> float | None:
    """Return a percentile of ordered values (linear interpolation, as numpy's default)."""
    if len(ordered) < needed(share):
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def percentile_interval(
    values: FloatArray, order: NDArray[np.int64], share: float, seed: int
) -> Interval | None:
    """Return the 90 % interval of a percentile of one run; `order` sorts `values`.

    `None` for too few values, or too few bursts of large ones.
    """
    batches = batch_count(len(values))
    if not batches:
        return None
    labels = batch_labels(len(values), batches)
    return Batches.of(values, order, labels, correlation_factor).interval(share, seed)


def in_few_bursts(values: FloatArray, share: float) -> bool:
    """Tell whether the values above a percentile come from too few bursts for an interval.

    No method can tell from such a run how much slower the next burst may be. M/D/1 at 80 % and
    5,000 requests is in 9 runs of 10, at 50 % in 1 of 50.
    """
    batches = batch_count(len(values))
    if not batches:
        return False
    labels = batch_labels(len(values), batches)
    ranks = Batches.of(values, np.argsort(values), labels, correlation_factor).ranks(share)
    return ranks is None


@dataclass(frozen=True, slots=True)
class Batches:
    """Values in ascending order with the batch of each; batches are numbered in order of time."""

    ordered: FloatArray
    batch: IntArray
    sizes: IntArray
    likeness: Likeness

    @classmethod
    def of(
        cls, values: FloatArray, order: NDArray[np.int64], labels: IntArray, likeness: Likeness
    ) -> "Batches":
        """Return values in a row with the batch of each; `order` sorts them."""
        return cls(values[order], labels[order], np.bincount(labels), likeness)

    @property
    def count(self) -> int:
        """How many batches there are."""
        return len(self.sizes)

    def interval(self, share: float, seed: int) -> Interval | None:
        """Return the 90 % interval of a percentile: what either method leaves possible."""
        ranks = self.ranks(share)
        if ranks is None:
            return None
        low, high = self.bootstrap(share, seed)
        ends = [float(self.ordered[rank]) for rank in ranks]
        return (min(low, ends[0]), max(high, ends[1]))

    def ranks(self, share: float) -> tuple[int, int] | None:
        """Return between which ranks the percentile lies; `None` without an upper end.

        Of n values n (1 - share) are expected above it, give or take t x the square root of that
        x D, with D the index of dispersion of counts per batch: 1 for values on their own, the
        number in a burst where they come in bursts. The largest D of some levels is taken where
        there are too few values at the percentile itself to see it.
        """
        count = len(self.ordered)
        expected = count * (1 - share)
        half = student_t95(self.count - 1) * math.sqrt(expected * self._dispersion(share))
        if expected - half < 1:
            return None
        low, high = count - expected - half, count - expected + half
        return max(0, math.floor(low)), min(count - 1, math.ceil(high))

    def _dispersion(self, share: float) -> float:
        """Return the largest index of dispersion, likeness of neighbours included; 1 at least."""
        count, found = len(self.ordered), 1.0
        plenty = count * (1 - share) >= PLENTY * self.count
        for level in LEVELS[:1] if plenty else LEVELS:
            above = round(count * (1 - share) * level)
            if not 0 < above <= max(count // 2, round(count * (1 - share))):
                continue
            counts = self._above(above)
            surprise = counts - self.sizes * (above / count)
            variance = float(surprise @ surprise) / (self.count - 1)
            found = max(found, variance * self.count / above * self.likeness(surprise))
        return found

    def _above(self, wanted: int) -> FloatArray:
        """Return how many of the largest values each batch holds.

        Equal values (to rounding) that straddle the limit count in part, all alike: which of them
        is sorted last says nothing.
        """
        ordered, count = self.ordered, len(self.ordered)
        limit = ordered[count - wanted]
        near = abs(limit) * 1e-9
        first = int(np.searchsorted(ordered, limit - near, side="left"))
        last = int(np.searchsorted(ordered, limit + near, side="right"))
        part = (wanted - (count - last)) / (last - first)
        return self._counted(last) + part * self._counted(first, last)

    def _counted(self, first: int, last: int | None = None) -> FloatArray:
        """Return how many values of these ranks each batch holds."""
        return np.bincount(self.batch[first:last], minlength=self.count).astype(np.float64)

    def bootstrap(self, share: float, seed: int) -> Interval:
        """Return the 90 % interval of a percentile by a bootstrap over batches alone.

        A resample draws whole batches with replacement, so it is a set of weights on the batches,
        and its percentile is looked up in counts per batch: the cost does not grow with resamples
        x values. The ends are those of the expanded percentile interval (Hesterberg 2015): a few
        batches stand for all that could have been, as in Student's t; and neighbouring batches
        that are alike in how much they have above the percentile widen it.
        """
        count, batches = len(self.ordered), self.count
        # A resample without the two or three busiest batches moves far down, never below this.
        lowest = int(count * max(0.0, 1 - 20 * (1 - share)))
        candidates = CANDIDATES if share > 0.95 else CANDIDATES // 4
        ranks = np.unique(np.linspace(lowest, count - 1, candidates).astype(np.int64))
        steps = np.diff(np.append(-1, ranks))
        cell = np.repeat(np.arange(len(ranks)), steps) * batches + self.batch
        per_cell = np.bincount(cell, minlength=len(ranks) * batches).reshape(len(ranks), batches)
        at_or_below = per_cell.cumsum(axis=0).astype(np.float64)
        found = _first_reaching(resample_weights(seed, batches), at_or_below, share)
        above = self._counted(int(share * count))
        widening = batches / (batches - 1) * self.likeness(above)
        sigmas = student_t95(batches - 1) * math.sqrt(widening)
        outside = math.erfc(sigmas / math.sqrt(2)) / 2  # of the normal law beyond so many sigmas
        low, high = np.quantile(self.ordered[ranks[found]], [outside, 1 - outside])
        return (float(low), float(high))


def _first_reaching(
    weights: FloatArray, at_or_below: FloatArray, share: float
) -> NDArray[np.int64]:
    """Return, per resample, the first row of counts that holds a share of it (by bisection)."""
    wanted = share * (weights * at_or_below[-1]).sum(axis=1) - 1e-9
    low = np.zeros(len(weights), dtype=np.int64)
    high = np.full(len(weights), len(at_or_below) - 1, dtype=np.int64)
    for _ in range(len(at_or_below).bit_length()):
        middle = (low + high) // 2
        reached = (weights * at_or_below[middle]).sum(axis=1) >= wanted
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + 1, high))
    return high


@lru_cache(maxsize=64)
def resample_weights(seed: int, batches: int) -> FloatArray:
    """Return how often each batch occurs in each resample (resamples x batches)."""
    rng = np.random.default_rng([seed, crc32(b"bootstrap")])
    equal = np.full(batches, 1 / batches)
    return rng.multinomial(batches, equal, size=RESAMPLES).astype(np.float64)

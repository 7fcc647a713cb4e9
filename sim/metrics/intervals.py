"""Intervals from one run: batch means for averages, a bootstrap over batches for percentiles.

Requests that follow each other share the same queue, so they are not independent; batches of many
of them nearly are. All intervals are 90 %.
"""

import math
from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sim.records import FloatArray

Interval = tuple[float, float]

MOST_BATCHES: Final = 25
"""20 to 30 batches are advised: more buy little, fewer stay independent (Schmeiser 1982)."""
LEAST_BATCHES: Final = 5
LEAST_PER_BATCH: Final = 10
RESAMPLES: Final = 400
CANDIDATES: Final = 1024
"""Order statistics among which a resampled percentile is looked up."""

# Student t, 95 % one-sided (so 90 % two-sided), 1 to 30 degrees of freedom:
# NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
_T95: Final = (
    *(6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812),
    *(1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725),
    *(1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697),
)


def student_t95(degrees_of_freedom: int) -> float:
    """Return the 95 % quantile of Student's t for 1 to 30 degrees of freedom.

    >>> student_t95(24)
    1.711
    """
    return _T95[degrees_of_freedom - 1]


def batch_count(count: int) -> int:
    """Return into how many batches so many values are cut; 0 where they are too few."""
    batches = min(MOST_BATCHES, count // LEAST_PER_BATCH)
    return batches if batches >= LEAST_BATCHES else 0


def correlation_factor(batches: FloatArray) -> float:
    """Return by how much neighbours that are alike raise the variance of the mean of batches.

    (1 + r) / (1 - r) with r the lag-1 autocorrelation of the batches, where it is positive: the
    correction of Skart (Tafazzoli and Wilson 2011) for batches too short to be independent.
    """
    deviations = batches - batches.mean()
    total = float(deviations @ deviations)
    if total == 0:
        return 1.0
    r = float(deviations[1:] @ deviations[:-1]) / total
    return (1 + r) / (1 - r) if r > 0 else 1.0


def standard_error(batches: FloatArray) -> float:
    """Return the standard error of the mean of successive batches."""
    variance = float(batches.var(ddof=1)) * correlation_factor(batches)
    return float(np.sqrt(variance / len(batches)))


def batch_labels(count: int, batches: int) -> NDArray[np.int64]:
    """Return the batch of each of `count` values in a row."""
    return np.arange(count, dtype=np.int64) * batches // count


def mean_interval(values: FloatArray) -> Interval | None:
    """Return the 90 % interval of the mean by batch means; `None` for too few values."""
    batches = batch_count(len(values))
    if not batches:
        return None
    starts = np.searchsorted(batch_labels(len(values), batches), np.arange(batches))
    sizes = np.diff(np.append(starts, len(values)))
    means = np.add.reduceat(values, starts) / sizes
    return around(float(values.mean()), means)


def around(centre: float, batches: FloatArray) -> Interval:
    """Return centre -/+ t x standard error of successive batches."""
    half = student_t95(len(batches) - 1) * standard_error(batches)
    return (centre - half, centre + half)


def rate_interval(per_batch: FloatArray) -> Interval | None:
    """Return the 90 % interval of a rate from those of successive slices of time.

    The interval is one of ratios, rate x or / exp(t x relative standard error): that of the
    logarithm, by the delta method. A rate is never negative, but rate -/+ t x standard error is
    where the slices differ much; where they do not, both are the same to first order. And what is
    a rate upside down, a cost per request, has this interval upside down: on the plain scale it
    would matter which of the two is taken first. `None` where nothing happened.
    """
    mean = float(per_batch.mean())
    if mean == 0:
        return None
    ratio = math.exp(student_t95(len(per_batch) - 1) * standard_error(per_batch) / mean)
    return (mean / ratio, mean * ratio)


def share_interval(hits: NDArray[np.bool_]) -> Interval | None:
    """Return the 90 % interval of a share, which ends at 0 and at 1 because shares do.

    Where all agree there is no spread to go by: then the exact bound of Clopper and Pearson for
    none in n, so that 1,000 of 1,000 does not read as certainty.
    """
    if len(hits) == 0:
        return None
    if hits.all():
        return (0.05 ** (1 / len(hits)), 1.0)
    if not hits.any():
        return (0.0, 1 - 0.05 ** (1 / len(hits)))
    interval = mean_interval(hits.astype(np.float64))
    return None if interval is None else (max(0.0, interval[0]), min(1.0, interval[1]))


def percentile_interval(
    values: FloatArray, order: NDArray[np.int64], share: float, seed: int
) -> Interval | None:
    """Return the 90 % interval of a percentile by a bootstrap over batches.

    `order` sorts `values`. A resample draws whole batches with replacement, so it is a set of
    weights on the batches, and its percentile is looked up in counts per batch: the cost does not
    grow with resamples x values. The ends are those of the expanded percentile interval
    (Hesterberg 2015): a few batches stand for all that could have been, as in Student's t; and
    neighbouring batches that are alike in how much they have above the percentile widen it.
    """
    count, batches = len(values), batch_count(len(values))
    if not batches:
        return None
    # A resample without the two or three busiest batches moves far down, never below this rank.
    lowest = int(count * max(0.0, 1 - 20 * (1 - share)))
    ranks = np.unique(np.linspace(lowest, count - 1, CANDIDATES).astype(np.int64))
    steps = np.diff(np.append(-1, ranks))
    labels = batch_labels(count, batches)[order]
    cell = np.repeat(np.arange(len(ranks)), steps) * batches + labels
    per_cell = np.bincount(cell, minlength=len(ranks) * batches).reshape(len(ranks), batches)
    at_or_below = per_cell.cumsum(axis=0).astype(np.float64)
    found = _first_reaching(resample_weights(seed, batches), at_or_below, share)
    above = _per_batch_above(labels, share, batches)
    widening = batches / (batches - 1) * correlation_factor(above)
    sigmas = student_t95(batches - 1) * math.sqrt(widening)
    outside = math.erfc(sigmas / math.sqrt(2)) / 2  # the normal law's share beyond so many sigmas
    low, high = np.quantile(values[order[ranks[found]]], [outside, 1 - outside])
    return (float(low), float(high))


def batches_behind(values: FloatArray, share: float) -> float | None:
    """Return from how many batches the values above a percentile come: (sum n)^2 / sum n^2.

    Where a handful of bursts holds them all, no method can tell from this run how much slower the
    next burst may be. `None` for too few values.
    """
    batches = batch_count(len(values))
    if not batches:
        return None
    labels = batch_labels(len(values), batches)[np.argsort(values)]
    above = _per_batch_above(labels, share, batches)
    return float(above.sum() ** 2 / (above**2).sum())


def _per_batch_above(labels: NDArray[np.int64], share: float, batches: int) -> FloatArray:
    """Return how many values above a percentile each batch holds, from ordered labels."""
    above = labels[int(share * len(labels)) :]
    return np.bincount(above, minlength=batches).astype(np.float64)


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

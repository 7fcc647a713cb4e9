"""Intervals from one run by batch means; those of percentiles are in `percentiles`.

Requests that follow each other share the same queue, so they are not independent; batches of many
of them nearly are. All intervals are 90 %.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.records import FloatArray

Interval = tuple[float, float]

MOST_BATCHES: Final = 25
"""20 to 30 batches are advised: more buy little, fewer stay independent (Schmeiser 1982)."""
LEAST_BATCHES: Final = 5
LEAST_PER_BATCH: Final = 10
MOST_ALIKE: Final = 0.9
"""Autocorrelation of batches above which more makes no sense: the run is one batch."""
USUAL_PER_BATCH: Final = 80
"""Shorter batches of requests that queue resemble each other, and pretend to know too much."""
USUAL_BATCHES: Final = 8
"""As many as shorter runs are cut into, where batches of ten allow."""

# Student t, 95 % one-sided (so 90 % two-sided), 1 to 30 degrees of freedom:
# NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
_T95: Final = (
    *(6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812),
    *(1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725),
    *(1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697),
)


def student_t95(degrees_of_freedom: int) -> float:
    """Return the 95 % quantile of Student's t.

    From the table up to 30 degrees of freedom, above by the expansion in 1 / degrees of freedom
    (Abramowitz and Stegun 26.7.5), which is right to three decimals there.

    >>> student_t95(24), round(student_t95(60), 3), round(student_t95(120), 3)
    (1.711, 1.671, 1.658)
    """
    if degrees_of_freedom <= len(_T95):
        return _T95[degrees_of_freedom - 1]
    z, n = 1.6448536, degrees_of_freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)


def batch_count(count: int) -> int:
    """Return into how many batches so many values are cut; 0 where they are too few."""
    wanted = max(USUAL_BATCHES, count // USUAL_PER_BATCH)
    batches = min(MOST_BATCHES, wanted, count // LEAST_PER_BATCH)
    return batches if batches >= LEAST_BATCHES else 0


def correlation_factor(batches: FloatArray, *, unbiased: bool = False) -> float:
    """Return by how much neighbours that are alike raise the variance of the mean of batches.

    (1 + r) / (1 - r) with r the lag-1 autocorrelation of the batches, where it is positive: the
    correction of Skart (Tafazzoli and Wilson 2011) for batches too short to be independent.
    `unbiased` takes away the bias of r, which is low by (1 + 4 r) / n in n batches (Marriott and
    Pope 1954): an interval needs it, a test of growth must not cry wolf less often for it.
    """
    deviations = batches - batches.mean()
    total = float(deviations @ deviations)
    if total == 0:
        return 1.0
    r = float(deviations[1:] @ deviations[:-1]) / total
    if r <= 0:
        return 1.0
    n = len(batches)
    if unbiased:  # what r is on average, r (1 - 4 / n) - 1 / n, solved for r
        r = min((r + 1 / n) / (1 - 4 / n), MOST_ALIKE)
    return (1 + r) / (1 - r)


def standard_error(batches: FloatArray, *, unbiased: bool = False) -> float:
    """Return the standard error of the mean of successive batches."""
    variance = float(batches.var(ddof=1)) * correlation_factor(batches, unbiased=unbiased)
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
    unbiased = batches >= USUAL_BATCHES  # fewer cannot tell r, let alone its bias
    half = student_t95(batches - 1) * standard_error(means, unbiased=unbiased)
    centre = float(values.mean())
    if 0.0 < centre < half and values.min() >= 0.0:
        # times are never negative: the interval of the logarithm, by the delta method
        ratio = math.exp(half / centre)
        return (centre / ratio, centre * ratio)
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

"""Intervals from independent runs: Student's t over what each of them gives."""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from sim.metrics.intervals import Interval, share_interval, student_t95


def over_runs(values: Sequence[float | None], *, positive: bool = False) -> Interval | None:
    """Return the 90 % interval of the mean of independent runs by Student's t.

    `positive`: on the scale of logarithms by the delta method, for rates, which are never below
    zero. `None` for fewer than two runs, or where a run has no value.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(known) < len(values):
        return None
    mean = fmean(known)
    half = student_t95(len(known) - 1) * float(np.std(known, ddof=1)) / math.sqrt(len(known))
    if not positive:
        return (mean - half, mean + half)
    return None if mean <= 0 else (mean * math.exp(-half / mean), mean * math.exp(half / mean))


def mean_of_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of the runs that have a value; `None` if none has."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def share_over_runs(good: Sequence[int], offered: Sequence[int]) -> Interval | None:
    """Return the interval of a share over runs; the exact bound where all requests agree."""
    total = sum(offered)
    if total and sum(good) in {0, total}:
        return share_interval(np.full(total, sum(good) > 0))
    shares = [met / asked for met, asked in zip(good, offered, strict=True) if asked]
    interval = over_runs(shares)
    return None if interval is None else (max(0.0, interval[0]), min(1.0, interval[1]))

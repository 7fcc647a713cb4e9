"""A distribution in a line: mean, percentiles, intervals, and how many values stand behind it."""

from dataclasses import dataclass

import numpy as np

from sim.metrics.intervals import Interval, mean_interval, percentile_interval
from sim.records import FloatArray, WeightedSamples


@dataclass(frozen=True, slots=True)
class Summary:
    """Of one latency, s. `None`: it does not exist, or too few values to say."""

    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    interval_mean: Interval | None
    interval_p99: Interval | None
    count: int


def withheld(count: int) -> Summary:
    """Return the summary of what has no values, or of which none may be shown."""
    return Summary(None, None, None, None, None, None, count)


def needed(share: float) -> int:
    """Return how many finished requests a percentile needs: 10 / (1 - share).

    >>> needed(0.99)
    1000
    """
    return round(10 / (1 - share))


def _percentile(ordered: FloatArray, share: float) -> float | None:
    """Return a percentile of ordered values (linear interpolation, as numpy's default)."""
    if len(ordered) < needed(share):
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def summarise(column: FloatArray, seed: int | None) -> Summary:
    """Summarise a latency [s] of requests in order of arrival; NaN = this request has none.

    `seed` is that of the bootstrap; `None`: no intervals.
    """
    values = column[~np.isnan(column)]
    if len(values) == 0:
        return withheld(0)
    order = np.argsort(values)
    ordered = values[order]
    p99 = _percentile(ordered, 0.99)
    return Summary(
        mean=float(values.mean()),
        p50=_percentile(ordered, 0.5),
        p90=_percentile(ordered, 0.9),
        p99=p99,
        interval_mean=None if seed is None else mean_interval(values),
        interval_p99=(
            None if seed is None or p99 is None else percentile_interval(values, order, 0.99, seed)
        ),
        count=len(values),
    )


def median_with_interval(
    column: FloatArray, seed: int | None
) -> tuple[float | None, Interval | None]:
    """Return the median over requests and its 90 % interval; without `seed` the median alone."""
    values = column[~np.isnan(column)]
    order = np.argsort(values)
    median = _percentile(values[order], 0.5)
    if median is None or seed is None:
        return median, None
    return median, percentile_interval(values, order, 0.5, seed)


def summarise_pooled(samples: WeightedSamples, finished: int) -> Summary:
    """Summarise pooled gaps [s]; gaps of one answer are alike, so requests are what counts.

    They carry no request, hence no batches and no intervals.
    """
    total = float(samples.weights.sum())
    if total == 0:
        return withheld(0)
    order = np.argsort(samples.values)
    ordered = samples.values[order]
    reached = np.cumsum(samples.weights[order])

    def percentile(share: float) -> float | None:
        if finished < needed(share):
            return None
        place = int(np.searchsorted(reached, share * total * (1 - 1e-12)))
        return float(ordered[min(place, len(ordered) - 1)])

    mean = float((samples.values * samples.weights).sum()) / total
    p50, p90, p99 = percentile(0.5), percentile(0.9), percentile(0.99)
    return Summary(mean, p50, p90, p99, None, None, round(total))

"""A distribution in a line: mean, percentiles, intervals, and how many values stand behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.metrics.intervals import Interval, mean_interval
from sim.metrics.percentiles import needed, percentile, percentile_interval
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
    interval_p50: Interval | None = None
    interval_p90: Interval | None = None
    whole: Mapping[str, Interval | None] | None = None
    """By statistic: intervals that hold the error of the calibration, too; `None`: not made."""

    def value(self, statistic: str) -> float | None:
        """Return `mean`, `p50`, `p90` or `p99`."""
        found: float | None = getattr(self, statistic)
        return found

    def interval(self, statistic: str) -> Interval | None:
        """Return the 90 % interval of `mean`, `p50`, `p90` or `p99`."""
        found: Interval | None = getattr(self, f"interval_{statistic}")
        return found

    def widest(self, statistic: str) -> Interval | None:
        """Return the interval with the calibration's share where it was made, else without."""
        return self.interval(statistic) if self.whole is None else self.whole[statistic]


def withheld(count: int) -> Summary:
    """Return the summary of what has no values, or of which none may be shown."""
    return Summary(None, None, None, None, None, None, count)


def summarise(column: FloatArray, seed: int | None) -> Summary:
    """Summarise a latency [s] of requests in order of arrival; NaN = this request has none.

    `seed` is that of the bootstrap; `None`: no intervals.
    """
    values = column[~np.isnan(column)]
    if len(values) == 0:
        return withheld(0)
    order = np.argsort(values)
    ordered = values[order]
    percentiles = {share: percentile(ordered, share) for share in (0.5, 0.9, 0.99)}

    def interval(share: float) -> Interval | None:
        if seed is None or percentiles[share] is None:
            return None
        return percentile_interval(values, order, share, seed)

    return Summary(
        mean=float(values.mean()),
        p50=percentiles[0.5],
        p90=percentiles[0.9],
        p99=percentiles[0.99],
        interval_mean=None if seed is None else mean_interval(values),
        interval_p99=interval(0.99),
        count=len(values),
        interval_p50=interval(0.5),
        interval_p90=interval(0.9),
    )


def median_with_interval(
    column: FloatArray, seed: int | None
) -> tuple[float | None, Interval | None]:
    """Return the median over requests and its 90 % interval; without `seed` the median alone."""
    values = column[~np.isnan(column)]
    order = np.argsort(values)
    median = percentile(values[order], 0.5)
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

    def reached_at(share: float) -> float | None:
        if finished < needed(share):
            return None
        place = int(np.searchsorted(reached, share * total * (1 - 1e-12)))
        return float(ordered[min(place, len(ordered) - 1)])

    mean = float((samples.values * samples.weights).sum()) / total
    p50, p90, p99 = reached_at(0.5), reached_at(0.9), reached_at(0.99)
    return Summary(mean, p50, p90, p99, None, None, round(total))

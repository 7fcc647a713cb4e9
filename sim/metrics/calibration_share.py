"""The share of the calibration in an interval: the same run with times that are off together.

Whoever fitted the times knows how far they are off (`sim.hardware.uncertainty`). Serving the same
requests with all times 1.645 sigma longer, and as much shorter, shows what that does to each
figure; requests and draws are the same, so the differences hold hardly any noise. It has nothing
to do with the luck of one run, so both shares add up as squares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, hypot, inf
from typing import Final

from sim.metrics.intervals import Interval
from sim.metrics.result import Metrics, SloResult, Throughput
from sim.metrics.summary import Summary

SIGMAS: Final = 1.645
"""Half width of a 90 % interval of the normal law."""


@dataclass(frozen=True, slots=True)
class Off:
    """The metrics of the same run if all times are off."""

    faster: Metrics
    slower: Metrics


def factors(sigma: float) -> tuple[float, float]:
    """Return by what all times are multiplied where they are as short and long as they may be.

    >>> [round(factor, 3) for factor in factors(0.1)]
    [0.848, 1.179]
    """
    return exp(-SIGMAS * sigma), exp(SIGMAS * sigma)


def whole(
    value: float | None,
    sampling: Interval | None,
    off: tuple[float | None, float | None],
) -> Interval | None:
    """Return an interval of sampling widened by what a figure is if the times are off.

    A figure that does not exist any more when the times are off (the queue grows without bound)
    leaves that side open: inf. `None` without an interval of sampling to widen.

    >>> whole(10.0, (7.0, 13.0), (6.0, 14.0))
    (5.0, 15.0)
    """
    if value is None or sampling is None:
        return None
    known = [other for other in off if other is not None]
    down = max([value - other for other in known if other < value], default=0.0)
    up = max([other - value for other in known if other > value], default=0.0)
    low = value - hypot(value - sampling[0], down)
    high = value + hypot(sampling[1] - value, up)
    return (low, inf) if None in off else (low, high)


def with_calibration(metrics: Metrics, off: Off) -> Metrics:
    """Return the metrics with a whole interval beside each interval of sampling."""
    classes = tuple(
        replace(one, latency=_latency(one.latency, (fast.latency, slow.latency)),
                slo=_targets(one.slo, (fast.slo, slow.slo)))
        for one, fast, slow in zip(
            metrics.classes, off.faster.classes, off.slower.classes, strict=True
        )
    )  # fmt: skip
    return replace(
        metrics,
        latency=_latency(metrics.latency, (off.faster.latency, off.slower.latency)),
        throughput=_throughput(metrics.throughput, off),
        slo=_targets(metrics.slo, (off.faster.slo, off.slower.slo)),
        classes=classes,
    )


Latency = Mapping[str, Summary]


def _latency(latency: Latency, off: tuple[Latency, Latency]) -> dict[str, Summary]:
    return {
        name: _summary(summary, (off[0][name], off[1][name])) for name, summary in latency.items()
    }


def _summary(summary: Summary, others: tuple[Summary, Summary]) -> Summary:
    def of(statistic: str) -> Interval | None:
        pair = (others[0].value(statistic), others[1].value(statistic))
        interval = whole(summary.value(statistic), summary.interval(statistic), pair)
        return None if interval is None else (max(0.0, interval[0]), interval[1])

    return replace(summary, whole={name: of(name) for name in ("mean", "p50", "p90", "p99")})


def _throughput(rates: Throughput, off: Off) -> Throughput:
    def of(name: str) -> Interval | None:
        pair = (getattr(off.faster.throughput, name), getattr(off.slower.throughput, name))
        # What a deployment serves is finite at any speed: a figure that is missing says nothing.
        known = tuple(getattr(rates, name) if value is None else value for value in pair)
        found = whole(
            getattr(rates, name), getattr(rates, f"interval_{name}"), (known[0], known[1])
        )
        return None if found is None else (max(0.0, found[0]), found[1])

    names = ("requests_per_s", "output_tokens_per_s", "user_tokens_per_s")
    return replace(rates, whole={name: of(name) for name in names})


def _targets(result: SloResult, off: tuple[SloResult, SloResult]) -> SloResult:
    pair = (off[0].attainment, off[1].attainment)
    interval = whole(result.attainment, result.interval_attainment, pair)
    if interval is None:
        return result
    return replace(result, whole_attainment=(max(0.0, interval[0]), min(1.0, interval[1])))

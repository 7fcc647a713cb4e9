"""What the run costs: the hours paid, shared out over input, output and idleness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.economics.price_list import Quote
from sim.metrics.intervals import Interval
from sim.metrics.result import Metrics
from sim.metrics.window import Window, share_inside
from sim.records import Simulation
from sim.units import HOURS_PER_MONTH, MEGA, SECONDS_PER_HOUR

_ROUNDING = 1e-9
"""Of a busy share: two sums over the same passes differ by so much and mean the same."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """One row of the bill."""

    item: str
    usd_per_hour: float
    usd_per_month: float
    share: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The bill. What depends on the traffic is `None` where the run has no window to go by."""

    quote: Quote
    gpus: int
    usd_per_hour: float
    usd_per_month: float
    """730 h."""
    input_share: float | None
    """Share of the paid replica-time spent on input tokens."""
    output_share: float | None
    idle_share: float | None
    """The three add up to 1: paid = input + output + idle."""
    usd_per_million_input_tokens: float | None
    """Busy time billed to input / input tokens finished; `None` without any such time or token."""
    usd_per_million_output_tokens: float | None
    """Busy time billed to output / output tokens finished."""
    usd_per_million_output_tokens_all_in: float | None
    """All that is paid / output tokens finished."""
    usd_per_request: float | None
    """All that is paid / requests finished."""
    interval_usd_per_million_output_tokens_all_in: Interval | None
    interval_usd_per_request: Interval | None
    whole: Mapping[str, Interval | None] | None = None
    """By name: intervals that hold the error of the calibration, too; `None`: not made."""

    @property
    def lines(self) -> tuple[CostLine, ...]:
        """The bill by item, the total last."""
        shares = {"input": self.input_share, "output": self.output_share, "idle": self.idle_share}
        parts = {item: share for item, share in shares.items() if share is not None}
        return tuple(
            CostLine(item, share * self.usd_per_hour, share * self.usd_per_month, share)
            for item, share in {**parts, "total": 1.0}.items()
        )


def price(simulation: Simulation, metrics: Metrics, quote: Quote, gpus: int) -> Cost:
    """Share out what `gpus` cost per hour; `gpus` counts those of all replicas.

    Time is taken inside the measured window, from the passes that ran there; tokens and requests
    are those that finished there.
    """
    usd_per_hour = gpus * quote.usd_per_gpu_hour
    rates, window = metrics.throughput, metrics.window
    busy, input_share = metrics.utilisation.busy, None
    if window is not None:
        input_share = _share_of_input(simulation, window)
    output_share = None if busy is None or input_share is None else _rest(busy, input_share)
    usd = 0.0 if window is None else usd_per_hour / SECONDS_PER_HOUR * window.length_s
    billed_to_input = None if not input_share else input_share * usd
    billed_to_output = None if output_share is None else output_share * usd
    paid = None if window is None else usd
    return Cost(
        quote=quote,
        gpus=gpus,
        usd_per_hour=usd_per_hour,
        usd_per_month=usd_per_hour * HOURS_PER_MONTH,
        input_share=input_share,
        output_share=output_share,
        idle_share=None if busy is None else 1 - busy,
        usd_per_million_input_tokens=_per(billed_to_input, rates.input_tokens / MEGA),
        usd_per_million_output_tokens=_per(billed_to_output, rates.output_tokens / MEGA),
        usd_per_million_output_tokens_all_in=_per(paid, rates.output_tokens / MEGA),
        usd_per_request=_per(paid, rates.requests),
        interval_usd_per_million_output_tokens_all_in=_interval(
            usd_per_hour * MEGA, rates.interval_output_tokens_per_s
        ),
        interval_usd_per_request=_interval(usd_per_hour, rates.interval_requests_per_s),
    )


def of_all(costs: Sequence[Cost], metrics: Metrics) -> Cost:
    """Return the bill of several runs of one deployment from the metrics of them together.

    What is paid per hour is the same; shares are averages; what is paid per unit is what is paid
    per second over the units per second. Intervals are those of the rates.
    """
    first, rates = costs[0], metrics.throughput
    usd_per_s = first.usd_per_hour / SECONDS_PER_HOUR
    whole = None
    if rates.whole is not None:
        tokens, requests = rates.whole["output_tokens_per_s"], rates.whole["requests_per_s"]
        whole = {
            "usd_per_million_output_tokens_all_in": _interval(first.usd_per_hour * MEGA, tokens),
            "usd_per_request": _interval(first.usd_per_hour, requests),
        }

    def mean(name: str) -> float | None:
        known = [value for cost in costs if (value := getattr(cost, name)) is not None]
        return float(np.mean(known)) if known else None

    return replace(
        first,
        input_share=mean("input_share"),
        output_share=mean("output_share"),
        idle_share=mean("idle_share"),
        usd_per_million_input_tokens=mean("usd_per_million_input_tokens"),
        usd_per_million_output_tokens=mean("usd_per_million_output_tokens"),
        usd_per_million_output_tokens_all_in=_per(
            usd_per_s, (rates.output_tokens_per_s or 0.0) / MEGA
        ),
        usd_per_request=_per(usd_per_s, rates.requests_per_s or 0.0),
        interval_usd_per_million_output_tokens_all_in=_interval(
            first.usd_per_hour * MEGA, rates.interval_output_tokens_per_s
        ),
        interval_usd_per_request=_interval(first.usd_per_hour, rates.interval_requests_per_s),
        whole=whole,
    )


def _share_of_input(simulation: Simulation, window: Window) -> float:
    """Return the share of the replicas' time in the window that is billed to input tokens."""
    leaps = simulation.leaps
    billed_s = float((leaps.prefill_s * share_inside(leaps, window)).sum())
    return billed_s / (simulation.replicas * simulation.lanes * window.length_s)


def _rest(busy: float, input_share: float) -> float:
    """Return the busy share that is not billed to input; 0 where only rounding is left of it."""
    rest = busy - input_share
    return 0.0 if abs(rest) < _ROUNDING * busy else rest


def _per(usd: float | None, amount: float) -> float | None:
    """Return USD per unit; `None` where nothing is billed or nothing came out."""
    return None if usd is None or amount == 0 else usd / amount


def _interval(usd_per_hour: float, rate_per_s: Interval | None) -> Interval | None:
    """Return the 90 % interval of a cost per unit from that of the units per second."""
    if rate_per_s is None or rate_per_s[0] <= 0:
        return None
    low, high = np.divide(usd_per_hour / SECONDS_PER_HOUR, [rate_per_s[1], rate_per_s[0]])
    return (float(low), float(high))

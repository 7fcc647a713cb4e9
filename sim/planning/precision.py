"""Whether a figure is as precise as asked."""

from sim.metrics.intervals import Interval
from sim.metrics.result import Metrics
from sim.run import Reached
from sim.scenario import Scenario

USUAL_METRIC = "ttft_p99_ms"


def reached(scenario: Scenario, metrics: Metrics) -> Reached | None:
    """Return how precise the named figure is; `None` where no precision is asked for.

    Precision is half the 90 % interval of sampling over the figure. The calibration's share is
    left out: no number of runs makes it smaller.
    """
    asked = scenario.run.precision
    if asked is None:
        return None
    metric = scenario.run.metric or USUAL_METRIC
    value, interval = figure(metrics, metric)
    half = None
    if interval is not None and value:
        half = (interval[1] - interval[0]) / 2 / abs(value)
    return Reached(metric, asked, half, met=half is not None and half <= asked)


def figure(metrics: Metrics, metric: str) -> tuple[float | None, Interval | None]:
    """Return a figure by its name in the scenario, and its 90 % interval of sampling.

    Latencies are in s here: a ratio has no unit.
    """
    if metric == "attainment":
        return metrics.slo.attainment, metrics.slo.interval_attainment
    if metric.endswith("_per_s"):
        rates = metrics.throughput
        return getattr(rates, metric), getattr(rates, f"interval_{metric}")
    latency, _, statistic = metric.removesuffix("_ms").rpartition("_")
    summary = metrics.latency[latency]
    return summary.value(statistic), summary.interval(statistic)

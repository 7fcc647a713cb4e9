"""Whether a figure is as precise as asked, and how many runs that takes."""

from math import ceil
from typing import Final

from sim.metrics.intervals import Interval
from sim.metrics.result import Metrics
from sim.run import Reached
from sim.scenario import Scenario

USUAL_METRIC = "ttft_p99_ms"
FIRST_RUNS: Final = 8
"""Runs before a precision is looked at: fewer may agree by chance."""
MOST_RUNS: Final = 100
"""Runs after which a precision is given up, where the scenario does not say."""


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


def first_runs(scenario: Scenario) -> int:
    """Return how many runs to begin with."""
    if scenario.run.precision is None:
        return scenario.run.seeds or 1
    return min(FIRST_RUNS, _most(scenario))


def _most(scenario: Scenario) -> int:
    return MOST_RUNS if scenario.run.seeds is None else scenario.run.seeds


def more_runs(scenario: Scenario, found: Reached, done: int) -> int:
    """Return how many runs to add: the width falls with the root of their number.

    Never more than are there already: the width of a few runs is itself a guess.
    """
    ratio = 2.0 if found.half_width is None else found.half_width / found.asked
    wanted = min(ceil(done * ratio**2), 2 * done)
    return min(max(wanted, done + 1), _most(scenario)) - done

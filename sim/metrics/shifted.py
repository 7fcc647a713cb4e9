"""What all requests of a run would show with other times, where only the first were served so.

Requests and draws of both servings are the same, so the first part tells how a time becomes
another one: its values in order, before and after. That map, from value to value, is laid on the
times of all requests of the run. It holds where a part of the run behaves as all of it does: where
the load forgets itself quickly, so not near capacity (`tells`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import finished, latency_columns, rows, user_tokens_per_s
from sim.metrics.result import Metrics
from sim.metrics.settling import memory
from sim.metrics.slo import Slo
from sim.metrics.summary import median_with_interval, summarise
from sim.metrics.targets import inside_targets
from sim.records import FloatArray, RequestRecords, Simulation

SMOOTHED: Final = 40
"""The change of a value is the mean over a 40th of all values, those nearest to it."""
MOST_WARMUP: Final = 4
"""At most a quarter of a part is left out as its warm-up."""


def tells(simulation: Simulation, metrics: Metrics) -> bool:
    """Tell whether a run, or a part of it, stands for longer ones of the same traffic.

    It does where no queue grows and the number inside does not drift (`settling.memory`).
    """
    settled = metrics.status == "ok" and not metrics.too_short
    return settled and memory(simulation, metrics.window) is None


def shifted(
    simulation: Simulation, metrics: Metrics, part: Simulation, *, slo: Slo, pipeline: Pipeline
) -> Metrics:
    """Return the metrics of a run with the times of `part`: its first requests, served anew.

    Latencies, the speed of users and the share inside the targets change; what is offered gets
    served all the same, so the rates stay. Of the rest nothing is said: it stays too.
    """
    warmup = metrics.warmup_requests
    first = slice(min(warmup, part.measured // MOST_WARMUP), part.measured)
    pair = rows(simulation.records, first), rows(part.records, first)
    counted = rows(simulation.records, slice(warmup, simulation.measured))
    before, after = (_columns(records, pipeline) for records in pair)
    now = {
        name: mapped(column, before[name], after[name])
        for name, column in _columns(counted, pipeline).items()
    }
    speed, done = now.pop("speed"), finished(counted)
    good = inside_targets(counted, now, slo.limits_s(simulation.class_names))
    latency = {name: summarise(column[done], None) for name, column in now.items()}
    return replace(
        metrics,
        latency={**metrics.latency, **latency},
        throughput=replace(
            metrics.throughput, user_tokens_per_s=median_with_interval(speed[done], None)[0]
        ),
        slo=replace(metrics.slo, attainment=float(good.mean()) if len(good) else None),
    )


def _columns(records: RequestRecords, pipeline: Pipeline) -> Mapping[str, FloatArray]:
    """Return the latencies [s] of requests, and their speed [tokens/s]."""
    speed = user_tokens_per_s(records, pipeline)
    return {**latency_columns(records, pipeline), "speed": speed}


def mapped(column: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Return a column with each value changed by as much as those like it in a part were.

    `before` and `after` hold the same requests in the same order. Sorted, the n-th value of one
    belongs to the n-th of the other; the change is their ratio, smoothed, and that at the ends
    holds for what lies outside.

    >>> values = np.arange(1.0, 5.0)
    >>> mapped(np.array([2.5, 9.0, np.nan]), values, 2 * values)
    array([ 5., 18., nan])
    """
    both = (before > 0) & (after > 0)  # not NaN, too
    values, others = np.sort(before[both]), np.sort(after[both])
    count = len(values)
    if not count:
        return column
    width = max(1, count // SMOOTHED)
    padded = np.pad(np.log(others / values), (width // 2, width - 1 - width // 2), mode="edge")
    change = np.convolve(padded, np.full(width, 1 / width), "valid")
    return np.asarray(column * np.exp(np.interp(column, values, change)))

"""Which requests are inside the targets."""

from collections.abc import Mapping

import numpy as np

from sim.metrics.intervals import share_interval
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import BoolArray, finished, latency_columns, rows
from sim.metrics.result import SloResult
from sim.metrics.settling import Memory
from sim.metrics.slo import Targets
from sim.metrics.summary import Summary
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords


def judge_targets(
    counted: RequestRecords,
    columns: Mapping[str, FloatArray],
    latency: Mapping[str, Summary],
    slo: Targets,
    *,
    limits_s: Mapping[str, FloatArray],
    goodput_requests_per_s: float | None,
    open_question: bool,
    overloaded: bool,
    memory: Memory | None,
    intervals: bool,
) -> SloResult:
    """Hold the counted requests against the targets; `columns` are latencies per request [s].

    `limits_s` are those that each request must keep, by class; see `Slo.limits_s`.

    An overloaded run misses every target on a percentile: its percentiles grow with its length.
    `open_question`: the run does not tell whether the deployment keeps up, so nothing is met.
    """
    done = finished(counted)
    mine = {name: limit[counted.request_class] for name, limit in limits_s.items()}
    hits = {name: _meets(done, columns[name], limit) for name, limit in mine.items()}
    good = inside_targets(counted, columns, limits_s)
    percentiles: dict[str, bool | None] = {}
    for name, limit_s in slo.on_percentiles_s().items():
        quantity, _, percentile = name.rpartition("_")
        value: float | None = getattr(latency[quantity], percentile)
        known = None if value is None else value <= limit_s
        percentiles[name] = False if overloaded else known
    attainment = float(good.mean()) if len(good) else None
    interval = share_interval(good) if intervals else None
    if interval is not None and memory is not None:
        interval = memory.widen(interval)
    enough = attainment is not None and attainment >= slo.attainment
    return SloResult(
        attainment=attainment,
        interval_attainment=interval,
        by_target={name: float(hit.mean()) for name, hit in hits.items() if len(hit)},
        on_percentiles=percentiles,
        goodput_requests_per_s=goodput_requests_per_s,
        met=enough and not overloaded and not open_question and all(percentiles.values()),
    )


def inside_targets(
    records: RequestRecords,
    columns: Mapping[str, FloatArray],
    limits_s: Mapping[str, FloatArray],
) -> BoolArray:
    """Tell which requests finished inside every target per request of their class."""
    done, of_class = finished(records), records.request_class
    hits = (_meets(done, columns[name], limit[of_class]) for name, limit in limits_s.items())
    return np.asarray(np.logical_and.reduce([done, *hits]))


def goodput(
    records: RequestRecords,
    window: Window | None,
    pipeline: Pipeline,
    limits_s: Mapping[str, FloatArray],
) -> float | None:
    """Return how many of those that finish in the window per second met every target."""
    if window is None:
        return None
    done = rows(records, window.completions(records))
    good = inside_targets(done, latency_columns(done, pipeline), limits_s)
    return int(good.sum()) / window.length_s


def _meets(done: BoolArray, column: FloatArray, limit_s: FloatArray) -> BoolArray:
    """Tell which requests finished inside a limit; one without this latency cannot miss it."""
    return np.asarray(done & ((column <= limit_s) | np.isnan(column)))

"""The same run seen by each class of requests: who waits, who is served, and who starves."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sim.metrics.overload import Load, judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import finished, rows
from sim.metrics.result import ClassMetrics, RequestCounts, RunStatus, SloResult
from sim.metrics.slo import Slo
from sim.metrics.summary import summarise, withheld
from sim.metrics.targets import goodput, judge_targets
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords, Simulation, Status


def by_class(
    simulation: Simulation,
    counted: RequestRecords,
    columns: Mapping[str, FloatArray],
    slo: Slo,
    *,
    limits_s: Mapping[str, FloatArray],
    window: Window | None,
    pipeline: Pipeline,
    seed: int | None,
    load: Load,
) -> tuple[ClassMetrics, ...]:
    """Measure each class of the counted requests; nothing where there is only one class.

    `columns` are latencies per counted request [s], `window` that of the goodput. A class is
    overloaded where its own queue grows, also in a run that as a whole is not, and the other way.
    """
    if len(simulation.class_names) == 1 and not slo.classes:
        return ()
    measured = []
    for place, name in enumerate(simulation.class_names):
        mine = counted.request_class == place
        own, own_columns = rows(counted, mine), {key: of[mine] for key, of in columns.items()}
        of_class = _only(simulation, place)
        starves = judge(of_class).overloaded
        done = finished(own)
        latency = {
            key: withheld(int(done.sum())) if starves else summarise(column[done], seed)
            for key, column in own_columns.items()
        }
        verdict = judge_targets(
            *(own, own_columns, latency, slo.of(name)),
            limits_s=limits_s,
            goodput_requests_per_s=goodput(of_class.records, window, pipeline, limits_s),
            open_question=load.too_short,
            overloaded=starves,
            memory=None,
            intervals=seed is not None,
        )
        status: RunStatus = "overloaded" if starves else "ok"
        measured.append(ClassMetrics(name, status, counts_of(own), latency, verdict))
    return tuple(measured)


def counts_of(counted: RequestRecords, background: int = 0) -> RequestCounts:
    """Count requests by how they ended."""
    ended = {status: int(np.count_nonzero(counted.status == status)) for status in Status}
    return RequestCounts(
        offered=len(counted),
        finished=ended[Status.FINISHED],
        rejected=ended[Status.REJECTED],
        unfinished=ended[Status.UNFINISHED],
        background=background,
    )


def _only(simulation: Simulation, place: int) -> Simulation:
    """Return the run as if only one class had been in it."""
    mine = simulation.records.request_class == place
    measured = int(np.count_nonzero(mine[: simulation.measured]))
    return replace(simulation, records=rows(simulation.records, mine), measured=measured)


def of_all(
    verdict: SloResult,
    counted: RequestRecords,
    columns: Mapping[str, FloatArray],
    slo: Slo,
    *,
    classes: tuple[ClassMetrics, ...],
    load: Load,
) -> SloResult:
    """Return the verdict on a run in which some classes have targets of their own.

    `verdict` holds the shares over all requests, each by its class's targets. What is asked of all
    is asked of the other classes together; and each class with its own targets must meet them.
    """
    own = slo.classes or {}
    unnamed = [place for place, one in enumerate(classes) if one.name not in own]
    others = np.isin(counted.request_class, unnamed)
    rest = _rest(rows(counted, others), {k: c[others] for k, c in columns.items()}, slo, load)
    kept = all(one.slo.met for one in classes if one.name in own)
    return replace(
        verdict,
        on_percentiles={} if rest is None else rest.on_percentiles,
        met=kept and (rest is None or rest.met),
    )


def _rest(
    others: RequestRecords, columns: Mapping[str, FloatArray], slo: Slo, load: Load
) -> SloResult | None:
    if len(others) == 0:
        return None
    done = finished(others)
    places = int(others.request_class.max()) + 1
    only = {name: np.full(places, limit) for name, limit in slo.per_request_s().items()}
    return judge_targets(
        *(others, columns, {name: summarise(c[done], None) for name, c in columns.items()}, slo),
        limits_s=only,
        goodput_requests_per_s=None,
        open_question=load.too_short,
        overloaded=load.overloaded,
        memory=None,
        intervals=False,
    )

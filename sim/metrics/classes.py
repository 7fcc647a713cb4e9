"""The same run seen by each class of requests: who waits, who is served, and who starves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sim.errors import InputError
from sim.metrics.overload import Load, judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import BoolArray, finished, rows
from sim.metrics.result import ClassMetrics, RequestCounts, RunStatus, SloResult
from sim.metrics.settling import Memory
from sim.metrics.slo import Slo
from sim.metrics.summary import Summary, summarise, withheld
from sim.metrics.targets import goodput, judge_targets
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords, Simulation, Status


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict goes by."""

    counted: RequestRecords
    columns: Mapping[str, FloatArray]
    """Latencies per counted request [s]."""
    window: Window | None
    """That of the goodput."""
    pipeline: Pipeline
    load: Load
    seed: int | None
    """Of the bootstrap; `None`: no intervals."""

    def only(self, which: BoolArray) -> "Evidence":
        """Return that of some of the counted requests."""
        columns = {name: column[which] for name, column in self.columns.items()}
        return replace(self, counted=rows(self.counted, which), columns=columns)


def judge_all(
    simulation: Simulation,
    evidence: Evidence,
    slo: Slo,
    latency: Mapping[str, Summary],
    memory: Memory | None,
) -> tuple[SloResult, tuple[ClassMetrics, ...]]:
    """Hold a run against its targets, as a whole and class by class.

    Shares of the whole are those of requests inside the targets of their own class. What is asked
    of all is asked of the classes without targets of their own, together; and each class that has
    its own must meet them.
    """
    unknown = [name for name in slo.classes or {} if name not in simulation.class_names]
    if unknown:
        raise InputError(
            f"there are targets for {unknown[0]}, but the classes of the traffic are"
            f" {', '.join(simulation.class_names)}",
            where="slo.classes",
        )
    limits_s, load = slo.limits_s(simulation.class_names), evidence.load
    verdict = judge_targets(
        *(evidence.counted, evidence.columns, latency, slo),
        limits_s=limits_s,
        goodput_requests_per_s=goodput(
            simulation.records, evidence.window, evidence.pipeline, limits_s
        ),
        open_question=load.too_short,
        overloaded=load.overloaded,
        memory=memory,
        intervals=evidence.seed is not None,
    )
    if len(simulation.class_names) == 1 and not slo.classes:
        return verdict, ()
    classes = tuple(
        _measure(
            *(_only(simulation, place), evidence.only(evidence.counted.request_class == place)),
            name=name,
            slo=slo,
            limits_s=limits_s,
        )
        for place, name in enumerate(simulation.class_names)
    )
    return (_of_all(verdict, evidence, slo, classes) if slo.classes else verdict), classes


def _only(simulation: Simulation, place: int) -> Simulation:
    """Return the run as if only one class had been in it."""
    mine = simulation.records.request_class == place
    measured = int(np.count_nonzero(mine[: simulation.measured]))
    return replace(simulation, records=rows(simulation.records, mine), measured=measured)


def _measure(
    of_class: Simulation,
    own: Evidence,
    *,
    name: str,
    slo: Slo,
    limits_s: Mapping[str, FloatArray],
) -> ClassMetrics:
    """Measure one class.

    It is overloaded where its own queue grows, also in a run that as a whole is not, and it is not
    where others' queues grow alone.
    """
    starves, done = judge(of_class).overloaded, finished(own.counted)
    latency = {
        key: withheld(int(done.sum())) if starves else summarise(column[done], own.seed)
        for key, column in own.columns.items()
    }
    asked = {quantity: limits_s[quantity] for quantity in slo.of(name).per_request_s()}
    verdict = judge_targets(
        *(own.counted, own.columns, latency, slo.of(name)),
        limits_s=asked,
        goodput_requests_per_s=goodput(of_class.records, own.window, own.pipeline, asked),
        open_question=own.load.too_short,
        overloaded=starves,
        memory=None,
        intervals=own.seed is not None,
    )
    status: RunStatus = "overloaded" if starves else "ok"
    return ClassMetrics(name, status, counts_of(own.counted), latency, verdict)


def _of_all(
    verdict: SloResult, evidence: Evidence, slo: Slo, classes: tuple[ClassMetrics, ...]
) -> SloResult:
    """Return the verdict on a run in which some classes have targets of their own."""
    own = slo.classes or {}
    unnamed = [place for place, one in enumerate(classes) if one.name not in own]
    others = evidence.only(np.isin(evidence.counted.request_class, unnamed))
    kept = all(one.slo.met for one in classes if one.name in own)
    if len(others.counted) == 0:
        return replace(verdict, on_percentiles={}, met=kept)
    done = finished(others.counted)
    latency = {key: summarise(column[done], None) for key, column in others.columns.items()}
    rest = judge_targets(
        *(others.counted, others.columns, latency, slo),
        limits_s=slo.limits_s([one.name for one in classes]),
        goodput_requests_per_s=None,
        open_question=others.load.too_short,
        overloaded=others.load.overloaded,
        memory=None,
        intervals=False,
    )
    return replace(verdict, on_percentiles=rest.on_percentiles, met=kept and rest.met)


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

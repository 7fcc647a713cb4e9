"""Several runs with independent seeds as one: what they agree on, and how sure that makes it.

Runs of different seeds are independent, as batches of one run only nearly are: so means have the
interval of Student's t over the runs. Percentiles are those of all requests together, with a
bootstrap that draws whole runs (or, of few runs, batches of them). All intervals are 90 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.metrics.intervals import Interval
from sim.metrics.notes import OPENED, starving
from sim.metrics.over_runs import mean_of_known, over_runs
from sim.metrics.percentiles import needed
from sim.metrics.pipeline import Pipeline
from sim.metrics.pooled import Pool, condensed, pooled_percentile
from sim.metrics.quantities import finished, latency_columns, rows, user_tokens_per_s
from sim.metrics.replicated_part import (
    Part,
    counts_of_all,
    latency_of_all,
    rejected_of_all,
    stages_of_all,
    targets_of_all,
)
from sim.metrics.result import (
    ClassMetrics,
    Metrics,
    RequestCounts,
    RunStatus,
    SloResult,
    Throughput,
    Utilisation,
)
from sim.metrics.slo import PERCENTILES, Slo
from sim.metrics.summary import Summary, summarise_pooled
from sim.metrics.targets import inside_targets
from sim.metrics.window import LittlesLaw
from sim.records import FloatArray, Simulation, WeightedSamples
from sim.units import counted


@dataclass(frozen=True, slots=True)
class Replication:
    """What is kept of one run: its metrics, and the columns that are pooled."""

    metrics: Metrics
    whole: Part
    classes: tuple[Part, ...]
    """One for each of `metrics.classes`."""
    others: Part
    """Requests of classes that have no targets of their own."""
    speed: FloatArray
    """Of each request that finished, tokens/s."""
    gaps: WeightedSamples
    rejections: tuple[tuple[str, int], ...] = ()
    """As in `Simulation`."""


def replication(
    simulation: Simulation, metrics: Metrics, *, slo: Slo, pipeline: Pipeline
) -> Replication:
    """Return what pooling needs of a run."""
    measured = slice(metrics.warmup_requests, simulation.measured)
    counted = rows(simulation.records, measured)
    columns = latency_columns(counted, pipeline)
    good = inside_targets(counted, columns, slo.limits_s(simulation.class_names))
    place = {name: at for at, name in enumerate(simulation.class_names)}
    named = [place[name] for name in slo.classes or {} if name in place]
    everyone = np.ones(len(counted), dtype=np.bool_)
    others = ~np.isin(counted.request_class, named)
    return Replication(
        metrics,
        Part.of(counted, columns, good, everyone, metrics.requests.background),
        tuple(
            Part.of(counted, columns, good, counted.request_class == place[one.name])
            for one in metrics.classes
        ),
        Part.of(counted, columns, good, others),
        user_tokens_per_s(rows(counted, finished(counted)), pipeline),
        condensed(simulation.gaps),
        simulation.rejections,
    )


def pool(runs: Sequence[Replication], *, slo: Slo, seed: int) -> Metrics:
    """Return the metrics of all runs together; `seed` owns the bootstrap's stream.

    They are overloaded if half of them are. If fewer are, their requests count like the others':
    to leave out the slowest runs would flatter the rest.
    """
    many, first = [run.metrics for run in runs], runs[0].metrics
    overloaded = 2 * sum(metrics.status == "overloaded" for metrics in many) >= len(many)
    too_short = not overloaded and 2 * sum(metrics.too_short for metrics in many) >= len(many)
    counts = counts_of_all([run.whole for run in runs])
    latency = latency_of_all([run.whole for run in runs], seed, withhold=overloaded)
    latency["itl"] = _gaps(runs, counts, withhold=overloaded)
    rates = _throughput(runs, seed, withhold=overloaded)
    classes = tuple(_class(runs, place, slo, seed) for place in range(len(first.classes)))
    refused = rejected_of_all((run.rejections for run in runs), counts.rejected)
    laws = [metrics.littles_law for metrics in many]
    sides = [None if overloaded else mean_of_known([getattr(law, side) for law in laws])
             for side in ("lhs", "rhs")]  # fmt: skip
    return replace(
        first,
        status="overloaded" if overloaded else "ok", too_short=too_short,
        sustainable_requests_per_s=rates.requests_per_s if overloaded else None,
        requests=counts, latency=latency, throughput=rates, classes=classes,
        slo=_targets(runs, latency, slo, classes, overloaded=overloaded, too_short=too_short),
        utilisation=Utilisation(
            mean_of_known([metrics.utilisation.busy for metrics in many]),
            max(metrics.utilisation.kv_peak for metrics in many),
            mean_of_known([metrics.utilisation.cached_input for metrics in many]),
        ),
        front_end_behind=overloaded and any(metrics.front_end_behind for metrics in many),
        littles_law=LittlesLaw(*sides),
        waterfall=() if overloaded else stages_of_all(metrics.waterfall for metrics in many),
        interval_basis=f"90 %, {len(runs)} runs with seeds of their own: Student's t over the runs"
        " for means and rates, a bootstrap over runs for percentiles",
        notes=(*_notes(many, counts, overloaded=overloaded), *starving(classes), *refused),
    )  # fmt: skip


def _gaps(runs: Sequence[Replication], counts: RequestCounts, *, withhold: bool) -> Summary:
    """Summarise the gaps of all runs together."""
    none = [WeightedSamples(np.zeros(0), np.zeros(0))]
    parts = none if withhold else [run.gaps for run in runs]
    values = np.concatenate([part.values for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    summary = summarise_pooled(WeightedSamples(values, weights), counts.finished)
    return replace(summary, count=counts.finished) if withhold else summary


def _throughput(runs: Sequence[Replication], seed: int, *, withhold: bool) -> Throughput:
    rates = [run.metrics.throughput for run in runs]

    def each(name: str) -> list[float | None]:
        return [getattr(rate, name) for rate in rates]

    speed: tuple[float | None, Interval | None] = (None, None)
    if not withhold:
        columns = [run.speed[~np.isnan(run.speed)] for run in runs]
        speed = pooled_percentile(Pool.of(columns), 0.5, seed)
    return Throughput(
        offered_requests_per_s=mean_of_known(each("offered_requests_per_s")),
        requests_per_s=mean_of_known(each("requests_per_s")),
        input_tokens_per_s=mean_of_known(each("input_tokens_per_s")),
        output_tokens_per_s=mean_of_known(each("output_tokens_per_s")),
        output_tokens_per_s_per_gpu=mean_of_known(each("output_tokens_per_s_per_gpu")),
        user_tokens_per_s=speed[0],
        interval_requests_per_s=over_runs(each("requests_per_s"), positive=True),
        interval_output_tokens_per_s=over_runs(each("output_tokens_per_s"), positive=True),
        interval_user_tokens_per_s=speed[1],
        requests=sum(rate.requests for rate in rates),
        input_tokens=sum(rate.input_tokens for rate in rates),
        output_tokens=sum(rate.output_tokens for rate in rates),
    )


def _class(runs: Sequence[Replication], place: int, slo: Slo, seed: int) -> ClassMetrics:
    """Return one class of all runs together; it starves where it does in half of them."""
    parts = [run.classes[place] for run in runs]
    alone = [run.metrics.classes[place] for run in runs]
    starves = 2 * sum(one.starves for one in alone) >= len(alone)
    too_short = 2 * sum(run.metrics.too_short for run in runs) >= len(runs)
    latency = latency_of_all(parts, seed, withhold=starves)
    verdict = targets_of_all(
        *(parts, [one.slo for one in alone], latency, slo.of(alone[0].name)),
        overloaded=starves,
        open_question=too_short,
    )
    status: RunStatus = "overloaded" if starves else "ok"
    return ClassMetrics(alone[0].name, status, counts_of_all(parts), latency, verdict)


def _targets(
    runs: Sequence[Replication],
    latency: Mapping[str, Summary],
    slo: Slo,
    classes: Sequence[ClassMetrics],
    *,
    overloaded: bool,
    too_short: bool,
) -> SloResult:
    """Hold all runs together against the targets of all, and of classes that have their own."""
    results = [run.metrics.slo for run in runs]
    verdict = targets_of_all(
        *([run.whole for run in runs], results, latency, slo),
        overloaded=overloaded,
        open_question=too_short,
    )
    if not slo.classes:
        return verdict
    kept = all(one.slo.met for one in classes if one.name in slo.classes)
    others = [run.others for run in runs]
    if not counts_of_all(others).offered:
        return replace(verdict, on_percentiles={}, met=kept)
    rest = targets_of_all(
        *(others, results, latency_of_all(others, 0, withhold=overloaded), slo),
        overloaded=overloaded,
        open_question=too_short,
    )
    return replace(verdict, on_percentiles=rest.on_percentiles, met=kept and rest.met)


def _notes(many: Sequence[Metrics], counts: RequestCounts, *, overloaded: bool) -> tuple[str, ...]:
    """Say in how many runs something was odd; of what single runs say, what still holds."""
    odd = sum(metrics.status == "overloaded" for metrics in many)
    short = sum(metrics.too_short for metrics in many)
    said = []
    if overloaded:
        behind = any(metrics.front_end_behind for metrics in many)
        queue = "what waits for the front end" if behind else "the queue"
        said.append(
            f"{queue} grows without bound in {odd} of {len(many)} runs: latencies depend on the"
            " length of the run; throughput, busy share and costs per unit are those of the"
            " saturated deployment"
        )
    elif odd:
        said.append(
            f"{odd} of {len(many)} runs overloaded on their own: this is close to what the"
            " deployment can do; their requests are counted with the others"
        )
    if short:
        said.append(f"{short} of {len(many)} runs too short to tell whether it keeps up")
    if overloaded:
        return tuple(said)
    said += [note for note in many[0].notes if OPENED in note]
    if counts.unfinished:
        said.append(
            f"{counted(counts.unfinished, 'request')} never finished: latencies are at least these"
        )
    said += [
        f"too few for p{round(share * 100)}: {counted(counts.finished, 'request')} finished,"
        f" {needed(share)} are needed"
        for share in PERCENTILES
        if counts.finished < needed(share)
    ]
    return tuple(said)

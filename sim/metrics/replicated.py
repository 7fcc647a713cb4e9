"""Several runs with independent seeds as one: what they agree on, and how sure that makes it.

Runs of different seeds are independent, as batches of one run only nearly are: so means have the
interval of Student's t over the runs. Percentiles are those of all requests together, with a
bootstrap that draws whole runs (or, of few runs, batches of them). All intervals are 90 %.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np

from sim.metrics.intervals import Interval
from sim.metrics.measure import latency_columns
from sim.metrics.over_runs import mean_of_known, over_runs, share_over_runs
from sim.metrics.percentiles import needed
from sim.metrics.pipeline import Pipeline
from sim.metrics.pooled import Pool, condensed, pooled_percentile
from sim.metrics.quantities import finished, rows, user_tokens_per_s
from sim.metrics.result import Metrics, RequestCounts, SloResult, Stage, Throughput, Utilisation
from sim.metrics.slo import PERCENTILES, Slo
from sim.metrics.summary import Summary, summarise_pooled, withheld
from sim.metrics.targets import inside_targets
from sim.metrics.window import LittlesLaw
from sim.records import FloatArray, Simulation, WeightedSamples

SPEED: Final = "user_tokens_per_s"


@dataclass(frozen=True, slots=True)
class Replication:
    """What is kept of one run: its metrics, and the columns that are pooled."""

    metrics: Metrics
    columns: Mapping[str, FloatArray]
    """Latencies [s] and the speed [tokens/s] of the finished counted requests, also where the run
    on its own is called overloaded."""
    gaps: WeightedSamples
    inside_targets: int


def replication(
    simulation: Simulation, metrics: Metrics, *, slo: Slo, pipeline: Pipeline
) -> Replication:
    """Return what pooling needs of a run."""
    measured = slice(metrics.warmup_requests, simulation.measured)
    counted = rows(simulation.records, measured)
    done = finished(counted)
    columns = latency_columns(counted, pipeline)
    good = inside_targets(done, columns, slo)
    kept = {name: column[done] for name, column in columns.items()}
    kept[SPEED] = user_tokens_per_s(rows(counted, done), pipeline)
    return Replication(metrics, kept, condensed(simulation.gaps), int(good.sum()))


def pool(runs: Sequence[Replication], *, slo: Slo, seed: int) -> Metrics:
    """Return the metrics of all runs together; `seed` owns the bootstrap's stream.

    They are overloaded if half of them are. If fewer are, their requests count like the others':
    to leave out the slowest runs would flatter the rest.
    """
    many, first = [run.metrics for run in runs], runs[0].metrics
    overloaded = 2 * sum(metrics.status == "overloaded" for metrics in many) >= len(many)
    too_short = not overloaded and 2 * sum(metrics.too_short for metrics in many) >= len(many)
    counts = _counts(many)
    latency = _latency(runs, counts, seed, withhold=overloaded)
    rates = _throughput(runs, seed, withhold=overloaded)
    busy = [metrics.utilisation.busy for metrics in many]
    kv_peak = max(metrics.utilisation.kv_peak for metrics in many)
    return replace(
        first,
        status="overloaded" if overloaded else "ok",
        too_short=too_short,
        sustainable_requests_per_s=rates.requests_per_s if overloaded else None,
        requests=counts,
        latency=latency,
        throughput=rates,
        slo=_targets(runs, latency, slo, overloaded=overloaded, open_question=too_short),
        utilisation=Utilisation(mean_of_known(busy), kv_peak),
        littles_law=LittlesLaw(None, None) if overloaded else LittlesLaw(
            mean_of_known([metrics.littles_law.lhs for metrics in many]),
            mean_of_known([metrics.littles_law.rhs for metrics in many]),
        ),
        waterfall=() if overloaded else _stages(many),
        interval_basis=f"90 %, {len(runs)} runs with seeds of their own: Student's t over the runs"
        " for means and rates, a bootstrap over runs for percentiles",
        notes=_notes(many, counts, overloaded=overloaded),
    )  # fmt: skip


def _counts(many: Sequence[Metrics]) -> RequestCounts:
    names = ("offered", "finished", "rejected", "unfinished", "background")
    return RequestCounts(
        **{name: sum(getattr(metrics.requests, name) for metrics in many) for name in names}
    )


def _latency(
    runs: Sequence[Replication], counts: RequestCounts, seed: int, *, withhold: bool
) -> dict[str, Summary]:
    names = [name for name in runs[0].columns if name != SPEED]
    if withhold:
        return {name: withheld(counts.finished) for name in (*names, "itl")}
    latency = {name: _summary([run.columns[name] for run in runs], seed) for name in names}
    gaps = WeightedSamples(
        np.concatenate([run.gaps.values for run in runs]),
        np.concatenate([run.gaps.weights for run in runs]),
    )
    return {**latency, "itl": summarise_pooled(gaps, counts.finished)}


def _summary(columns: Sequence[FloatArray], seed: int) -> Summary:
    """Summarise one latency [s]: the mean of the runs' means, percentiles of all requests."""
    present = [column[~np.isnan(column)] for column in columns]
    present = [column for column in present if len(column)]
    if not present:
        return withheld(0)
    means = [float(column.mean()) for column in present]
    whole = Pool.of(present)
    found = {share: pooled_percentile(whole, share, seed) for share in PERCENTILES}
    return Summary(
        mean=fmean(means),
        p50=found[0.5][0],
        p90=found[0.9][0],
        p99=found[0.99][0],
        interval_mean=over_runs(means),
        interval_p99=found[0.99][1],
        count=len(whole.values),
        interval_p50=found[0.5][1],
        interval_p90=found[0.9][1],
    )


def _throughput(runs: Sequence[Replication], seed: int, *, withhold: bool) -> Throughput:
    rates = [run.metrics.throughput for run in runs]

    def each(name: str) -> list[float | None]:
        return [getattr(rate, name) for rate in rates]

    speed: tuple[float | None, Interval | None] = (None, None)
    if not withhold:
        columns = [run.columns[SPEED] for run in runs]
        speed = pooled_percentile(Pool.of([x[~np.isnan(x)] for x in columns]), 0.5, seed)
    interval: Callable[[str], Interval | None] = lambda name: over_runs(each(name), positive=True)  # noqa: E731
    return Throughput(
        offered_requests_per_s=mean_of_known(each("offered_requests_per_s")),
        requests_per_s=mean_of_known(each("requests_per_s")),
        input_tokens_per_s=mean_of_known(each("input_tokens_per_s")),
        output_tokens_per_s=mean_of_known(each("output_tokens_per_s")),
        output_tokens_per_s_per_gpu=mean_of_known(each("output_tokens_per_s_per_gpu")),
        user_tokens_per_s=speed[0],
        interval_requests_per_s=interval("requests_per_s"),
        interval_output_tokens_per_s=interval("output_tokens_per_s"),
        interval_user_tokens_per_s=speed[1],
        requests=sum(rate.requests for rate in rates),
        input_tokens=sum(rate.input_tokens for rate in rates),
        output_tokens=sum(rate.output_tokens for rate in rates),
    )


def _targets(
    runs: Sequence[Replication],
    latency: Mapping[str, Summary],
    slo: Slo,
    *,
    overloaded: bool,
    open_question: bool,
) -> SloResult:
    """Hold all requests together against the targets, as one run is."""
    results = [run.metrics.slo for run in runs]
    offered = [run.metrics.requests.offered for run in runs]
    good = [run.inside_targets for run in runs]
    attainment = sum(good) / sum(offered) if sum(offered) else None
    percentiles: dict[str, bool | None] = {}
    for name, limit_s in slo.on_percentiles_s().items():
        quantity, _, percentile = name.rpartition("_")
        value = latency[quantity].value(percentile)
        percentiles[name] = False if overloaded else None if value is None else value <= limit_s
    enough = attainment is not None and attainment >= slo.attainment
    by_target = {
        name: sum(
            result.by_target.get(name, 0.0) * n for result, n in zip(results, offered, strict=True)
        )
        / sum(offered)
        for name in results[0].by_target
    }
    return replace(
        results[0],
        attainment=attainment,
        interval_attainment=share_over_runs(good, offered),
        by_target=by_target,
        on_percentiles=percentiles,
        goodput_requests_per_s=mean_of_known(
            [result.goodput_requests_per_s for result in results]
        ),
        met=enough and not overloaded and not open_question and all(percentiles.values()),
    )


def _stages(many: Sequence[Metrics]) -> tuple[Stage, ...]:
    """Return the stages of the mean TTFT, averaged over the runs."""
    with_stages = [metrics.waterfall for metrics in many if metrics.waterfall]
    return tuple(
        Stage(same[0].stage, fmean(stage.mean_s for stage in same), same[0].origin)
        for same in zip(*with_stages, strict=True)
    )


def _notes(many: Sequence[Metrics], counts: RequestCounts, *, overloaded: bool) -> tuple[str, ...]:
    """Say in how many runs something was odd; of what single runs say, what still holds."""
    said = []
    odd = sum(metrics.status == "overloaded" for metrics in many)
    if odd and not overloaded:
        said.append(
            f"{odd} of {len(many)} runs are overloaded on their own: this is close to what the"
            " deployment can do; their requests are counted with the others"
        )
    if overloaded:
        said.append(
            f"the queue grows without bound in {odd} of {len(many)} runs: latencies depend on the"
            " length of the run; throughput, busy share and costs per unit are those of the"
            " saturated deployment"
        )
    short = sum(metrics.too_short for metrics in many)
    if short:
        said.append(f"{short} of {len(many)} runs are too short to tell whether it keeps up")
    if counts.unfinished and not overloaded:
        said.append(f"{counts.unfinished} requests never finished: latencies are at least these")
    said += [
        f"too few for p{round(share * 100)}: {counts.finished} requests finished,"
        f" {needed(share)} are needed"
        for share in PERCENTILES
        if counts.finished < needed(share) and not overloaded
    ]
    return tuple(said)

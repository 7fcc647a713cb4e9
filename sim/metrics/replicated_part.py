"""Some of the requests of several runs together: all of them, or those of one class."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from sim.metrics.classes import counts_of
from sim.metrics.notes import rejected
from sim.metrics.over_runs import mean_of_known, over_runs, share_over_runs
from sim.metrics.pooled import Pool, pooled_percentile
from sim.metrics.quantities import BoolArray, finished, rows
from sim.metrics.result import RequestCounts, SloResult, Stage
from sim.metrics.slo import PERCENTILES, Targets
from sim.metrics.summary import Summary, withheld
from sim.records import FloatArray, RequestRecords


@dataclass(frozen=True, slots=True)
class Part:
    """What is kept of some requests of one run."""

    counts: RequestCounts
    columns: Mapping[str, FloatArray]
    """Latencies of those that finished, s; also where the run on its own is overloaded."""
    inside_targets: int

    @classmethod
    def of(
        cls,
        counted: RequestRecords,
        columns: Mapping[str, FloatArray],
        good: BoolArray,
        which: BoolArray,
        background: int = 0,
    ) -> "Part":
        """Return what is kept of the counted requests that are meant by `which`."""
        done = finished(counted) & which
        kept = {name: column[done] for name, column in columns.items()}
        counts = counts_of(rows(counted, which), background)
        return cls(counts, kept, int(good[which].sum()))


def counts_of_all(parts: Sequence[Part]) -> RequestCounts:
    """Return the sums over the runs."""
    names = ("offered", "finished", "rejected", "unfinished", "background")
    return RequestCounts(
        **{name: sum(getattr(part.counts, name) for part in parts) for name in names}
    )


def rejected_of_all(
    rejections: Iterable[Iterable[tuple[str, int]]], counted: int
) -> tuple[str, ...]:
    """Say why requests of all runs were refused."""
    together = Counter[str]()
    for of_run in rejections:
        together.update(dict(of_run))
    return rejected(sorted(together.items()), counted)


def stages_of_all(waterfalls: Iterable[tuple[Stage, ...]]) -> tuple[Stage, ...]:
    """Return the stages of the mean TTFT, averaged over the runs that have them."""
    with_stages = [stages for stages in waterfalls if stages]
    return tuple(
        Stage(same[0].stage, fmean(stage.mean_s for stage in same), same[0].origin)
        for same in zip(*with_stages, strict=True)
    )


def latency_of_all(parts: Sequence[Part], seed: int, *, withhold: bool) -> dict[str, Summary]:
    """Summarise each latency of all runs together; `seed` is that of the bootstrap."""
    names = list(parts[0].columns)
    if withhold:
        done = sum(part.counts.finished for part in parts)
        return {name: withheld(done) for name in names}
    return {name: _summary([part.columns[name] for part in parts], seed) for name in names}


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


def targets_of_all(
    parts: Sequence[Part],
    results: Sequence[SloResult],
    latency: Mapping[str, Summary],
    targets: Targets,
    *,
    overloaded: bool,
    open_question: bool,
) -> SloResult:
    """Hold all runs together against targets, as one run is; `results` are those of each."""
    offered = [part.counts.offered for part in parts]
    good, total = [part.inside_targets for part in parts], sum(offered)
    attainment = sum(good) / total if total else None
    percentiles: dict[str, bool | None] = {}
    for name, limit_s in targets.on_percentiles_s().items():
        quantity, _, percentile = name.rpartition("_")
        value = latency[quantity].value(percentile)
        percentiles[name] = False if overloaded else None if value is None else value <= limit_s
    enough = attainment is not None and attainment >= targets.attainment
    names = dict.fromkeys(name for one in results for name in one.by_target)
    shares = {
        name: sum(
            one.by_target.get(name, 0.0) * n for one, n in zip(results, offered, strict=True)
        )
        for name in names
    }
    return SloResult(
        attainment=attainment,
        interval_attainment=share_over_runs(good, offered),
        by_target={name: share / total for name, share in shares.items()} if total else {},
        on_percentiles=percentiles,
        goodput_requests_per_s=mean_of_known([one.goodput_requests_per_s for one in results]),
        met=enough and not overloaded and not open_question and all(percentiles.values()),
    )

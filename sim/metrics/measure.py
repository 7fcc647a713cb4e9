"""The one door of this package: a simulation in, metrics out."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from sim.metrics import quantities
from sim.metrics.intervals import batches_behind
from sim.metrics.overload import Load, judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import finished, rows
from sim.metrics.rates import throughput
from sim.metrics.result import Metrics, RequestCounts, Stage, Utilisation
from sim.metrics.slo import PERCENTILES, Slo
from sim.metrics.summary import Summary, needed, summarise, summarise_pooled, withheld
from sim.metrics.targets import judge_targets
from sim.metrics.warmup import warmup_requests
from sim.metrics.window import Window, littles_law, measurement_window, share_inside
from sim.records import FloatArray, RequestRecords, Simulation, Status
from sim.units import MS_PER_S

FEWEST_BATCHES_BEHIND_P99: Final = 4
"""M/M/1 at 80 % and 5,000 requests (where a 90 % interval of p99 holds the truth half the time) is
below it nine times in ten, at 50 % and 20,000 requests (where it holds) never."""


def measure(
    simulation: Simulation, *, slo: Slo, pipeline: Pipeline, gpus: int, seed: int
) -> Metrics:
    """Measure one run. `gpus` counts those of all replicas; `seed` owns the bootstrap's stream."""
    load = judge(simulation)
    records = simulation.records
    warmup = 0
    # An overloaded run never leaves its transient: there is nothing to cut down to.
    if simulation.steady_state and not load.overloaded:
        measured = rows(records, slice(0, simulation.measured))
        warmup = warmup_requests(quantities.ttlt_s(measured, pipeline))
    counted = rows(records, slice(warmup, simulation.measured))
    window = measurement_window(counted, steady_state=simulation.steady_state)
    columns = _columns(counted, pipeline)
    latency = _latency(simulation, counted, columns, seed, withhold=load.overloaded)
    rates = throughput(
        *(records, counted, window),
        pipeline=pipeline, gpus=gpus, seed=seed, withhold_speed=load.overloaded,
    )  # fmt: skip
    counts = _counts(records, counted)
    few_bursts = latency["ttft"].p99 is not None and _in_few_bursts(counted, columns["ttft"])
    return Metrics(
        status="overloaded" if load.overloaded else "ok",
        sustainable_requests_per_s=load.sustainable_requests_per_s,
        requests=counts,
        latency=latency,
        throughput=rates,
        slo=judge_targets(
            *(counted, columns, latency, slo),
            offered_requests_per_s=rates.offered_requests_per_s, overloaded=load.overloaded,
        ),
        utilisation=utilisation(simulation, window),
        littles_law=littles_law(simulation, window),
        waterfall=() if load.overloaded else waterfall(counted, pipeline),
        window=window,
        warmup_requests=warmup,
        interval_basis=_interval_basis(simulation),
        notes=_notes(counts, load, warmup, simulation.measured, few_bursts=few_bursts),
    )  # fmt: skip


def _columns(counted: RequestRecords, pipeline: Pipeline) -> dict[str, FloatArray]:
    """Return the latencies per counted request [s]."""
    return {
        "engine_ttft": quantities.engine_ttft_s(counted),
        "ttft": quantities.ttft_s(counted, pipeline),
        "tpot": quantities.tpot_s(counted),
        "max_gap": quantities.max_gap_s(counted),
        "ttlt": quantities.ttlt_s(counted, pipeline),
    }


def _latency(
    simulation: Simulation,
    counted: RequestRecords,
    columns: Mapping[str, FloatArray],
    seed: int,
    *,
    withhold: bool,
) -> dict[str, Summary]:
    """Summarise the latencies of the finished requests."""
    done = finished(counted)
    count = int(done.sum())
    if withhold:
        return {name: withheld(count) for name in (*columns, "itl")}
    latency = {name: summarise(column[done], seed) for name, column in columns.items()}
    return {**latency, "itl": summarise_pooled(simulation.gaps, count)}


def _counts(records: RequestRecords, counted: RequestRecords) -> RequestCounts:
    """Count the requests by how they ended."""
    ended = {status: int(np.count_nonzero(counted.status == status)) for status in Status}
    return RequestCounts(
        offered=len(counted),
        finished=ended[Status.FINISHED],
        rejected=ended[Status.REJECTED],
        unfinished=ended[Status.UNFINISHED],
        background=len(records) - len(counted),
    )


def utilisation(simulation: Simulation, window: Window | None) -> Utilisation:
    """Return the share of the window in which replicas ran passes, and the peak of the KV pool."""
    if window is None:
        return Utilisation(None, simulation.kv_peak_share)
    leaps = simulation.leaps
    busy_s = float((leaps.duration_s * share_inside(leaps, window)).sum())
    busy = busy_s / (simulation.replicas * window.length_s)
    # Replicas that never rest add up to 1 within rounding; more than that would be a fault.
    busy = 1.0 if 1 < busy < 1 + 1e-9 else busy
    return Utilisation(busy, simulation.kv_peak_share)


def waterfall(counted: RequestRecords, pipeline: Pipeline) -> tuple[Stage, ...]:
    """Return the stages of the mean TTFT of the finished requests; empty if none finished."""
    done = rows(counted, finished(counted))
    if len(done) == 0:
        return ()
    queue_s = float((done.admitted_s - done.arrival_s).mean())
    first_pass_s = float((done.first_token_s - done.admitted_s).mean())
    return (
        Stage("network", pipeline.network_rtt_ms / MS_PER_S, "assumed"),
        Stage("gateway", pipeline.gateway_ms / MS_PER_S, "assumed"),
        Stage("tokenise", pipeline.tokenise_ms / MS_PER_S, "assumed"),
        Stage("queue", queue_s, "simulated"),
        Stage("prefill and first pass", first_pass_s, "simulated"),
        Stage("detokenise", pipeline.detokenise_ms / MS_PER_S, "assumed"),
    )


def _in_few_bursts(counted: RequestRecords, ttft_s: FloatArray) -> bool:
    """Tell whether too few batches hold the slowest hundredth to speak for a p99."""
    batches = batches_behind(ttft_s[finished(counted)], 0.99)
    return batches is not None and batches < FEWEST_BATCHES_BEHIND_P99


def _interval_basis(simulation: Simulation) -> str:
    """Say what the intervals speak for."""
    method = "batch means, and a bootstrap over batches for percentiles"
    if simulation.steady_state:
        return f"90 %, one run: {method}; they speak for the steady state of this traffic"
    if simulation.closed_loop:
        return f"90 %, one run: {method}; they speak for this benchmark, ramp-up and end included"
    return f"90 %, blocks of the one trace: {method}; they speak for traffic like this trace"


def _notes(
    counts: RequestCounts, load: Load, warmup: int, measured: int, *, few_bursts: bool
) -> tuple[str, ...]:
    """Say what a reader of the numbers must know."""
    notes = []
    if load.overloaded:
        notes.append("the queue grows without bound: latencies depend on the length of the run")
    if load.filling_up:
        notes.append("the deployment was still filling up at the last arrival: take more requests")
    if counts.unfinished and not load.overloaded:
        notes.append(f"{counts.unfinished} requests never finished: latencies are at least these")
    if warmup and warmup >= measured // 2 - 5:
        notes.append(
            "the warm-up took half of the run: it may not have settled; take more requests"
        )
    if few_bursts:
        notes.append(
            "the slowest 1 % came in a few bursts: p99 may be well above what this run saw, its"
            " interval included; take more requests"
        )
    if not load.overloaded:
        notes.extend(
            f"too few for p{round(share * 100)}: {counts.finished} requests finished,"
            f" {needed(share)} are needed"
            for share in PERCENTILES
            if counts.finished < needed(share)
        )
    return tuple(notes)

"""The one door of this package: a simulation in, metrics out."""

from collections.abc import Mapping

from sim.metrics import quantities
from sim.metrics.classes import Evidence, counts_of, judge_all
from sim.metrics.notes import notes
from sim.metrics.overload import Load, judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import BoolArray, finished, latency_columns, rows
from sim.metrics.rates import throughput
from sim.metrics.result import Metrics, Stage, Utilisation
from sim.metrics.settling import memory
from sim.metrics.slo import Slo
from sim.metrics.summary import Summary, summarise, summarise_pooled, withheld
from sim.metrics.warmup import warmup_requests
from sim.metrics.window import Window, littles_law, measurement_window, share_inside
from sim.records import FloatArray, RequestRecords, Simulation
from sim.units import MS_PER_S


def measure(
    simulation: Simulation,
    *,
    slo: Slo,
    pipeline: Pipeline,
    gpus: int,
    seed: int,
    intervals: bool = True,
) -> Metrics:
    """Measure one run. `gpus` counts those of all replicas; `seed` owns the bootstrap's stream.

    Latencies and targets speak for all counted requests. Rates and busy time are those of a
    window: between the counted arrivals, or, where the queue grows without bound, while the
    deployment is saturated, so that they are what it can do and not how it fills up.
    `intervals` False leaves all intervals out, and the time that they take: for sweeps.
    """
    load, records = judge(simulation), simulation.records
    overloaded, warmup = load.overloaded, _warmup(simulation, pipeline, load)
    counted = rows(records, slice(warmup, simulation.measured))
    done, counts = finished(counted), counts_of(counted, len(records) - len(counted))
    arriving = _arriving(simulation, counted)
    window = load.saturated if overloaded else arriving
    slow = None if overloaded else memory(simulation, arriving)
    columns = latency_columns(counted, pipeline)
    bootstrap = seed if intervals else None
    latency = _latency(simulation, done, columns, bootstrap, withhold=overloaded)
    rates = throughput(
        *(records, counted), arriving=arriving, finishing=window,
        pipeline=pipeline, gpus=gpus, seed=bootstrap, withhold_speed=overloaded,
    )  # fmt: skip
    evidence = Evidence(counted, columns, window, pipeline, load, bootstrap)
    verdict, classes = judge_all(simulation, evidence, slo, latency, slow)
    return Metrics(
        status="overloaded" if overloaded else "ok", too_short=load.too_short,
        sustainable_requests_per_s=rates.requests_per_s if overloaded else None,
        requests=counts,
        latency=latency,
        throughput=rates,
        slo=verdict, classes=classes,
        utilisation=utilisation(simulation, window, rows(counted, done)),
        littles_law=littles_law(simulation, None if overloaded else arriving),
        waterfall=() if overloaded else waterfall(counted, pipeline),
        window=window, front_end_behind=load.front_end,
        warmup_requests=warmup,
        interval_basis=_interval_basis(simulation, overloaded=overloaded, asked=intervals),
        notes=notes(
            *(simulation, load, counts, rows(counted, done)),
            warmup=warmup, slow=slow, classes=classes,
        ),
    )  # fmt: skip


def _warmup(simulation: Simulation, pipeline: Pipeline, load: Load) -> int:
    """Return how many requests are cut: of synthetic arrivals, those before the steady state."""
    if simulation.warmup is not None:
        return simulation.warmup
    if not simulation.steady_state or simulation.closed_loop or load.overloaded:
        return 0  # whoever measures a closed loop in its steady state has cut off its beginning
    measured = rows(simulation.records, slice(0, simulation.measured))
    return warmup_requests(quantities.ttlt_s(measured, pipeline))


def _arriving(simulation: Simulation, counted: RequestRecords) -> Window | None:
    """Return the window of the counted arrivals.

    That of a closed loop in its steady state ends as the next request is sent: from one request of
    a user to another one there are as many answers as there are requests, and no more.
    """
    steady = simulation.steady_state
    if steady and simulation.closed_loop:
        counted = rows(simulation.records, slice(0, simulation.measured + 1))
    return measurement_window(counted, steady_state=steady)


def _latency(
    simulation: Simulation,
    done: BoolArray,
    columns: Mapping[str, FloatArray],
    seed: int | None,
    *,
    withhold: bool,
) -> dict[str, Summary]:
    """Summarise the latencies of the finished requests."""
    count = int(done.sum())
    if withhold:
        return {name: withheld(count) for name in (*columns, "itl")}
    latency = {name: summarise(column[done], seed) for name, column in columns.items()}
    return {**latency, "itl": summarise_pooled(simulation.gaps, count)}


def utilisation(
    simulation: Simulation, window: Window | None, done: RequestRecords
) -> Utilisation:
    """Return the share of the window in which replicas ran passes, and how KV was used."""
    cached = None
    if simulation.prefix_cache and len(done):
        cached = float(done.cached_input_tokens.sum() / done.input_tokens.sum())
    if window is None:
        return Utilisation(None, simulation.kv_peak_share, cached)
    leaps = simulation.leaps
    busy_s = float((leaps.duration_s * share_inside(leaps, window)).sum())
    busy = busy_s / (simulation.replicas * simulation.lanes * window.length_s)
    # Replicas that never rest add up to 1 within rounding; more than that would be a fault.
    busy = 1.0 if abs(busy - 1) < 1e-9 else busy
    return Utilisation(busy, simulation.kv_peak_share, cached)


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


def _interval_basis(simulation: Simulation, *, overloaded: bool, asked: bool) -> str:
    """Say what the intervals speak for."""
    if not asked:
        return "none asked for"
    method = "batch means, and a bootstrap over batches for percentiles"
    if overloaded:
        return f"90 %, one run: {method}; they speak for the saturated deployment"
    if simulation.steady_state:
        return f"90 %, one run: {method}; they speak for the steady state of this traffic"
    if simulation.closed_loop:
        return f"90 %, one run: {method}; they speak for this benchmark, ramp-up and end included"
    return f"90 %, blocks of this one run: {method}; they speak for traffic like it"

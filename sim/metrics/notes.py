"""What a reader of the numbers must know, in sentences."""

from collections.abc import Iterator
from typing import Final

from sim.metrics.intervals import batches_behind
from sim.metrics.overload import Load
from sim.metrics.result import RequestCounts
from sim.metrics.slo import PERCENTILES
from sim.metrics.summary import needed
from sim.records import FloatArray, Simulation

FEWEST_BATCHES_BEHIND_P99: Final = 4
"""M/M/1 at 80 % and 5,000 requests (where a 90 % interval of p99 holds the truth half the time) is
below it nine times in ten, at 50 % and 20,000 requests (where it holds) never."""


def notes(
    simulation: Simulation, load: Load, counts: RequestCounts, ttft_s: FloatArray, warmup: int
) -> tuple[str, ...]:
    """Return the sentences; `ttft_s` [s] is that of the finished requests, in order of arrival."""
    if load.overloaded:
        return (*_overloaded(load),)
    return (*_unsettled(load, counts, warmup, simulation.measured), *_percentiles(counts, ttft_s))


def _overloaded(load: Load) -> Iterator[str]:
    """Say what the throughput of an overloaded run stands for."""
    yield "the queue grows without bound: latencies depend on the length of the run"
    window = load.saturated
    if window is None:
        yield (
            "too little finished while requests waited: no throughput, no busy share and no cost"
            " per unit; take more requests"
        )
        return
    yield (
        "throughput, busy share and costs per unit are those of the saturated deployment:"
        f" {window.start_s:.0f} s to {window.end_s:.0f} s of the run, the second half of the time"
        " in which requests waited"
    )
    if not load.turned_over:
        yield (
            "fewer requests finished in that time than are served at once: throughput and costs"
            " are rough; take more requests"
        )


def _unsettled(load: Load, counts: RequestCounts, warmup: int, measured: int) -> Iterator[str]:
    """Say where a run was too short to settle or to finish."""
    if load.filling_up:
        yield "the deployment was still filling up at the last arrival: take more requests"
    if counts.unfinished:
        yield f"{counts.unfinished} requests never finished: latencies are at least these"
    if warmup and warmup >= measured // 2 - 5:
        yield "the warm-up took half of the run: it may not have settled; take more requests"


def _percentiles(counts: RequestCounts, ttft_s: FloatArray) -> Iterator[str]:
    """Say which percentiles are missing, or rest on little."""
    behind = batches_behind(ttft_s, 0.99) if counts.finished >= needed(0.99) else None
    if behind is not None and behind < FEWEST_BATCHES_BEHIND_P99:
        yield (
            "the slowest 1 % came in a few bursts: p99 may be well above what this run saw, its"
            " interval included; take more requests"
        )
    for share in PERCENTILES:
        if counts.finished < needed(share):
            yield (
                f"too few for p{round(share * 100)}: {counts.finished} requests finished,"
                f" {needed(share)} are needed"
            )

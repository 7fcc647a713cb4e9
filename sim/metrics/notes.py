"""What a reader of the numbers must know, in sentences."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from sim.metrics.overload import Load
from sim.metrics.percentiles import in_few_bursts, needed
from sim.metrics.quantities import engine_ttft_s
from sim.metrics.result import ClassMetrics, RequestCounts
from sim.metrics.settling import Memory
from sim.metrics.slo import PERCENTILES
from sim.records import RequestRecords, Simulation
from sim.units import counted

ROUGH_TURNS: Final = 3
"""Turns of a saturated deployment below which no more than one of them is measured."""
REQUESTS_PER_USER: Final = 10
"""Requests of each user of a closed loop below which its opening colours every figure."""
DOMINATED: Final = 0.5
"""Share of the slowest hundredth from which on the opening of a closed loop makes the p99."""


GROWING: Final = "the queue grows without bound: latencies depend on the length of the run"
FALLING_BEHIND: Final = (
    "tokens wait longer and longer for the front end, the one process that hands out those of all"
    " users of a replica: latencies depend on the length of the run"
)
OPENED: Final = "are those that all users sent at once when the loop began"


def notes(
    simulation: Simulation,
    load: Load,
    counts: RequestCounts,
    answered: RequestRecords,
    *,
    warmup: int,
    slow: Memory | None,
    classes: Sequence[ClassMetrics] = (),
) -> tuple[str, ...]:
    """Return the sentences; `answered` are the counted requests that finished."""
    refused = rejected(simulation.rejections, counts.rejected)
    if load.overloaded:
        return (*_overloaded(load), *starving(classes), *refused)
    slowest = None
    if counts.finished >= needed(0.99):
        slowest = _opening(simulation, answered) or _few_bursts(answered)
    return (
        *_unsettled(load, counts, warmup if simulation.warmup is None else 0, simulation.measured),
        *opening_counts(simulation, answered),
        *(() if slow is None else (_slow(slow),)),
        *([] if slowest is None else [slowest]),
        *starving(classes),
        *_too_few(counts),
        *refused,
    )


def rejected(rejections: Iterable[tuple[str, int]], counted: int) -> tuple[str, ...]:
    """Say why requests were refused; `counted` of them are in the figures, the others warmed up.

    The engine tells reasons and numbers over the whole run.
    """
    listed = list(rejections)
    if len(listed) == 1:
        return (f"{counted:,} rejected: {listed[0][0]}",) if counted else ()
    warming = "" if sum(count for _, count in listed) == counted else ", warm-up included"
    return tuple(f"{count:,} rejected{warming}: {reason}" for reason, count in listed)


def _overloaded(load: Load) -> Iterator[str]:
    """Say what the throughput of an overloaded run stands for."""
    yield FALLING_BEHIND if load.front_end else GROWING
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
        f" in which {'tokens' if load.front_end else 'requests'} waited"
    )
    if load.turns < ROUGH_TURNS:
        yield (
            "in that time the deployment served only about as many requests as it holds at once:"
            " throughput and costs are rough; take more requests"
        )


def starving(classes: Sequence[ClassMetrics]) -> Iterator[str]:
    """Name the classes whose queue grows, where that of another class does not."""
    starving = [one.name for one in classes if one.starves]
    if 0 < len(starving) < len(classes):
        served = ", ".join(one.name for one in classes if not one.starves)
        yield (
            f"{', '.join(starving)} starves: its queue grows without bound, while {served} is"
            " served as fast as it asks"
        )


def _unsettled(load: Load, counts: RequestCounts, warmup: int, measured: int) -> Iterator[str]:
    """Say where a run was too short to settle or to finish."""
    if load.too_short:
        yield (
            "too short to tell whether the deployment keeps up: at the last arrival it was still"
            " filling up; take more requests"
        )
    elif load.filling_up:
        yield "the deployment was still filling up at the last arrival: take more requests"
    if counts.unfinished:
        lost = counted(counts.unfinished, "request")
        yield f"{lost} never finished: latencies are at least these"
    if warmup and warmup >= measured // 2 - 5:
        yield "the warm-up took half of the run: it may not have settled; take more requests"


def _slow(slow: Memory) -> str:
    """Say that the load drifted over the run, as it does near capacity."""
    return (
        "the number of requests inside changed slowly for a run of this length, as it does near"
        f" capacity: the run is worth about {slow.stretches:.0f} independent stretches, and a"
        " longer one may look different; the interval of the share inside the targets allows for"
        " it, others do not"
    )


def opening_counts(simulation: Simulation, answered: RequestRecords) -> Iterator[str]:
    """Say where the requests with which a closed loop begins are many of those counted."""
    if not simulation.closed_loop or not len(answered):
        return
    first = answered.arrival_s == np.nanmin(simulation.records.arrival_s)
    users, count = int(np.count_nonzero(first)), len(answered)
    if users > 1 and count < REQUESTS_PER_USER * users:
        yield (
            f"{users:,} of the {count:,} requests {OPENED}: the figures are of the opening (and"
            f" the end) of the loop as much as of what lies between; take {REQUESTS_PER_USER} for"
            f" each user or more ({REQUESTS_PER_USER * users:,})"
        )


def _opening(simulation: Simulation, answered: RequestRecords) -> str | None:
    """Say where p99 of TTFT is that of the moment in which all users of a closed loop begin."""
    if not simulation.closed_loop:
        return None
    start_s = np.nanmin(simulation.records.arrival_s)
    slowest = np.argsort(engine_ttft_s(answered))[-round(len(answered) * 0.01) :]
    share = float((answered.arrival_s[slowest] == start_s).mean())
    if share < DOMINATED:
        return None
    users = int(np.count_nonzero(answered.arrival_s == start_s))
    return (
        f"{share:.0%} of the slowest 1 % are among the {users:,} requests that all users sent at"
        " once when the loop began, so TTFT p99 is that of the opening and not of what comes"
        f" after; it takes more than {100 * users:,} requests to wear off"
    )


def _few_bursts(answered: RequestRecords) -> str | None:
    """Say where too few bursts hold the slowest hundredth to speak for a p99."""
    if not in_few_bursts(engine_ttft_s(answered), 0.99):
        return None
    return (
        "the slowest 1 % came in a few bursts: p99 may be well above what this run saw, so it has"
        " no interval; take more requests, or several seeds"
    )


def _too_few(counts: RequestCounts) -> Iterator[str]:
    """Say which percentiles are missing."""
    for share in PERCENTILES:
        if counts.finished < needed(share):
            done = counted(counts.finished, "request")
            least = needed(share)
            yield f"too few for p{round(share * 100)}: {done} finished, {least} are needed"

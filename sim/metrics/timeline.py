"""How a run went, bin by bin: who waits, who runs, how full the KV pool is, how long a pass takes.

Made after the run from the records and the leaps, so the engine pays nothing for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sim.errors import InputError
from sim.metrics.quantities import BoolArray
from sim.records import FloatArray, IntArray, RequestRecords, Simulation, Status
from sim.units import counted

USUAL_BINS: Final = 1_000
"""Bins of a replica where no width is asked for, at most."""
MOST_ROWS: Final = 1_000_000
NOBODY: Final = -1
"""In place of the replica: requests that none has served yet when the simulation ends."""

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Columns of equal length, one row a bin and replica; s, tokens and requests."""

    bin_s: float
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.columns["time_s"])


def timeline(simulation: Simulation, *, bin_s: float | None = None) -> Timeline:
    """Return the course of a run in bins of `bin_s` [s]; `None`: a round width, 1,000 at most.

    `queued` are requests that have arrived and are not admitted, `inside` all that have arrived
    and are not answered, both as averages over the bin. `running` are the sequences of the passes
    and `kv_used_tokens` what they hold at the end of each leap, averaged over the bin, idle time
    counted as none. `pass_s` is the mean time of the passes of the bin, `pass_max_s` the longest
    pass of a leap that touches it; NaN where none ran.
    """
    end_s = _end_s(simulation)
    width_s = _usual_width_s(end_s) if bin_s is None else bin_s
    bins = max(1, ceil(round(end_s / width_s, 9)))
    replicas = _replicas(simulation)
    if bins * len(replicas) > MOST_ROWS:
        raise InputError(
            f"{end_s:.0f} s in bins of {width_s:g} s for {counted(len(replicas), 'replica')} are"
            f" more than {MOST_ROWS:,} rows",
            where="--timeline-bin",
            remedy=f"use {_usual_width_s(end_s):g} s",
        )
    edges: FloatArray = width_s * np.arange(bins + 1, dtype=np.float64)
    parts = [_of_replica(simulation, replica, edges) for replica in replicas]
    return Timeline(
        width_s, {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    )


def _replicas(simulation: Simulation) -> list[int]:
    """Return the replicas, and `NOBODY` where a request waits that none has served."""
    lost = (simulation.records.replica == NOBODY) & _let_in(simulation.records)
    return [*range(simulation.replicas), *([NOBODY] if lost.any() else [])]


def _let_in(records: RequestRecords) -> BoolArray:
    return np.asarray((records.status != Status.REJECTED) & ~np.isnan(records.arrival_s))


def _end_s(simulation: Simulation) -> float:
    """Return the last thing that is known to have happened, s."""
    leaps, records = simulation.leaps, simulation.records
    ends = [leaps.start_s + leaps.duration_s, records.arrival_s, records.last_token_s]
    return max(float(np.nanmax(x, initial=0.0)) for x in ends)


def _usual_width_s(end_s: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that gives no more than 1,000 bins.

    >>> _usual_width_s(900.0), _usual_width_s(4200.0)
    (1.0, 5.0)
    """
    least = end_s / USUAL_BINS
    if least <= 0:
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-12))


def _of_replica(simulation: Simulation, replica: int, edges: FloatArray) -> dict[str, Column]:
    records = simulation.records
    mine = _let_in(records) & (records.replica == replica)
    came = records.arrival_s[mine]
    admitted, gone = records.admitted_s[mine], records.last_token_s[mine]
    bins = len(edges) - 1
    return {
        "time_s": edges[:-1],
        "replica": np.full(bins, replica),
        "queued": _mean_between(came, admitted, edges),
        "inside": _mean_between(came, gone, edges),
        "arrived": np.histogram(came, edges)[0],
        "finished": np.histogram(gone[~np.isnan(gone)], edges)[0],
        **_passes(simulation, replica, edges),
    }


def _mean_between(came_s: FloatArray, went_s: FloatArray, edges: FloatArray) -> FloatArray:
    """Return how many are inside on average in each bin; NaN in `went_s`: they never leave."""
    never = np.where(np.isnan(went_s), np.inf, went_s)
    inside = _waited(never, edges) - _waited(came_s, edges)
    return np.asarray(np.maximum(np.diff(inside), 0.0) / np.diff(edges))


def _waited(times_s: FloatArray, at_s: FloatArray) -> FloatArray:
    """Return the sum over all times of min(time, t), for each t."""
    ordered = np.sort(times_s)
    finite = np.where(np.isfinite(ordered), ordered, 0.0)
    total = np.concatenate([[0.0], np.cumsum(finite)])
    past = np.searchsorted(ordered, at_s, side="right")
    return np.asarray(total[past] + at_s * (len(ordered) - past))


def _passes(simulation: Simulation, replica: int, edges: FloatArray) -> dict[str, Column]:
    """Return what ran in each bin; a leap's passes are spread evenly over its time."""
    leaps, lanes, width_s = simulation.leaps, simulation.lanes, float(edges[1])
    names = ("passes", "pass_time_s", "running", "held")
    sums = {name: np.zeros(len(edges) - 1) for name in names}
    for lane in range(replica * lanes, (replica + 1) * lanes):
        mine = leaps.replica == lane
        start, took = leaps.start_s[mine], leaps.duration_s[mine]
        counts = leaps.passes[mine].astype(np.float64)
        sequences, tokens = took * leaps.sequences[mine], took * leaps.kv_used_tokens[mine]
        for name, amounts in zip(names, (counts, took, sequences, tokens), strict=True):
            sums[name] += _inside(start, took, amounts, edges)
    passes, held = sums["passes"], sums["held"] / width_s
    ran, mine = passes > 1e-9, leaps.replica // lanes == replica
    start, took = leaps.start_s[mine], leaps.duration_s[mine]
    last = leaps.first_s[mine] + leaps.slope_s[mine] * (leaps.passes[mine] - 1)
    longest = _longest(start, took, np.maximum(leaps.first_s[mine], last), edges)
    return {
        "running": sums["running"] / width_s,
        "busy": np.minimum(_covered(start, took, edges) / width_s, 1.0),
        "passes": passes,
        "pass_s": np.where(ran, sums["pass_time_s"] / np.where(ran, passes, 1.0), np.nan),
        "pass_max_s": np.where(ran, longest, np.nan),
        "kv_used_tokens": held,
        "kv_share": held / simulation.kv_pool_tokens,
    }


def _covered(start_s: FloatArray, took_s: FloatArray, edges: FloatArray) -> FloatArray:
    """Return how much of each bin stretches cover that may overlap, s."""
    order = np.argsort(start_s, kind="stable")
    end = np.maximum.accumulate((start_s + took_s)[order]) if len(order) else took_s
    begin = np.maximum(start_s[order], np.concatenate([[-np.inf], end])[: len(order)])
    new_s = np.maximum(end - begin, 0.0)
    return _inside(begin, new_s, new_s, edges)


def _inside(
    start_s: FloatArray, took_s: FloatArray, amounts: FloatArray, edges: FloatArray
) -> FloatArray:
    """Return how much of amounts that flow evenly over their stretches falls into each bin."""
    if not len(start_s):
        return np.zeros(len(edges) - 1)
    order = np.argsort(start_s, kind="stable")
    start, end = start_s[order], (start_s + took_s)[order]
    # The end of a leap and the start of the next may differ by a rounding.
    times = np.maximum.accumulate(np.stack([start, end], axis=1).ravel())
    after = np.cumsum(amounts[order])
    reached = np.stack([np.concatenate([[0.0], after[:-1]]), after], axis=1).ravel()
    return np.asarray(np.diff(np.interp(edges, times, reached)))


def _longest(
    start_s: FloatArray, took_s: FloatArray, values: FloatArray, edges: FloatArray
) -> FloatArray:
    """Return the largest value of the leaps that touch each bin."""
    width, bins = float(edges[1]), len(edges) - 1
    first: IntArray = np.minimum((start_s / width).astype(np.int64), bins - 1)
    last: IntArray = np.minimum(((start_s + took_s) / width).astype(np.int64), bins - 1)
    spans = last - first + 1
    leap = np.repeat(np.arange(len(spans)), spans)
    place = first[leap] + np.arange(len(leap)) - np.repeat(np.cumsum(spans) - spans, spans)
    found = np.zeros(bins)
    np.maximum.at(found, place, values[leap])
    return found

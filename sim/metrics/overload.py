"""Tell whether more is asked than the deployment can serve."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.metrics.intervals import standard_error, student_t95
from sim.records import FloatArray, RequestRecords, Simulation, Status

STRETCHES: Final = 24
"""Stretches of equally many arrivals in which the growth of a count is looked at."""
LEAST_STRETCHES: Final = 4
ARRIVALS_PER_STRETCH: Final = 10
KEEPING_UP: Final = 0.98
"""Completions per arrival below which a deployment does not keep up."""


@dataclass(frozen=True, slots=True)
class Load:
    """How the deployment stood up to the traffic."""

    overloaded: bool
    sustainable_requests_per_s: float | None
    """Completions per second while requests waited; only for an overloaded run."""
    filling_up: bool
    """No queue grows, but the number inside still does: the run ended before it settled."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """A count as its comings and goings, both ordered, s (inf = never)."""

    came_s: FloatArray
    went_s: FloatArray

    def at(self, time_s: FloatArray) -> FloatArray:
        """Return how many are inside."""
        came = np.searchsorted(self.came_s, time_s, side="right")
        went = np.searchsorted(self.went_s, time_s, side="right")
        return (came - went).astype(np.float64)


def judge(simulation: Simulation) -> Load:
    """Say whether the queue grew without bound.

    What is followed is the queue: requests that have arrived and are not yet admitted. (All
    requests inside would not do: they also grow while a healthy deployment fills up, for as long
    as an answer takes.) The measured arrivals are cut into 24 stretches of equally many, and the
    growth of the queue per stretch is put to a one-sided t-test at 5 %, with the variance raised
    for stretches that resemble their neighbours. The run is overloaded if the queue grew beyond
    noise

    - over the second half of the arrivals, or
    - over all of them (more power: it starts empty) while it also grew over the second half.

    A queue that only wanders makes the same test: its increments are noise, so heavy but stable
    load is not called overload (M/M/1 at 95 %, 2,000 requests: about 2 in 100; longer runs or less
    load: none), and 3 % too much is found once runs are long enough to tell it from chance (M/D/1:
    3 in 4 at 5,000 requests, 99 in 100 at 20,000). A burst that has drained by the last arrival
    leaves no growth; a trace that ends inside a burst of more than about the last sixth of its
    arrivals is overloaded at its end, and is called so. A closed loop cannot be overloaded.
    """
    records = simulation.records
    arrivals = records.arrival_s[: simulation.measured]
    if simulation.closed_loop or len(arrivals) < LEAST_STRETCHES * ARRIVALS_PER_STRETCH:
        return Load(overloaded=False, sustainable_requests_per_s=None, filling_up=False)
    queue = _flow(records, records.admitted_s)
    middle = len(arrivals) // 2
    overloaded = _grows(queue, arrivals[middle:]) or (
        _grows(queue, arrivals) and _growth(queue, arrivals[middle:]).sum() > 0
    )
    if overloaded:
        rate = _sustainable_requests_per_s(records, queue, float(arrivals[-1]))
        return Load(overloaded=True, sustainable_requests_per_s=rate, filling_up=False)
    inside = _flow(records, records.last_token_s)
    late = arrivals[middle:]
    behind = _growth(inside, late).sum() > (1 - KEEPING_UP) * len(late)
    filling_up = bool(behind and _grows(inside, late))
    return Load(overloaded=False, sustainable_requests_per_s=None, filling_up=filling_up)


def _flow(records: RequestRecords, went_s: FloatArray) -> _Flow:
    """Return the flow from arrival to another event of every request that was let in."""
    let_in = (records.status != Status.REJECTED) & ~np.isnan(records.arrival_s)
    went = went_s[let_in]
    return _Flow(
        np.sort(records.arrival_s[let_in]), np.sort(np.where(np.isnan(went), np.inf, went))
    )


def _growth(flow: _Flow, arrivals_s: FloatArray) -> FloatArray:
    """Return by how much a count grows over each stretch of the arrivals."""
    stretches = min(STRETCHES, len(arrivals_s) // ARRIVALS_PER_STRETCH)
    edges = np.linspace(0, len(arrivals_s) - 1, max(stretches, 2) + 1).astype(np.int64)
    return np.diff(flow.at(arrivals_s[edges]))


def _grows(flow: _Flow, arrivals_s: FloatArray) -> bool:
    """Tell whether a count grows beyond noise, by at least one request a stretch."""
    growth = _growth(flow, arrivals_s)
    if len(growth) < LEAST_STRETCHES:
        return False
    mean = float(growth.mean())
    return mean >= 1 and mean > student_t95(len(growth) - 1) * standard_error(growth)


def _sustainable_requests_per_s(
    records: RequestRecords, queue: _Flow, last_arrival_s: float
) -> float | None:
    """Return completions per second over the backlog that spans the last measured arrival.

    It lasts from the time the queue was last empty until it is empty again, or until the last
    completion. It is counted from its first completion on, so that the time in which the first
    answers are still being written does not count as a lack of capacity.
    """
    changes = np.concatenate([queue.came_s, queue.went_s[np.isfinite(queue.went_s)]])
    changes.sort()
    empty_s = changes[queue.at(changes) == 0]
    before, after = empty_s[empty_s <= last_arrival_s], empty_s[empty_s > last_arrival_s]
    done_s = np.sort(records.last_token_s[records.status == Status.FINISHED])
    if len(done_s) == 0:
        return None
    start_s = float(before[-1]) if len(before) else float(changes[0])
    end_s = float(after[0]) if len(after) else float(done_s[-1])
    inside = done_s[(done_s >= start_s) & (done_s <= end_s)]
    if len(inside) < 2 or inside[-1] == inside[0]:
        return None
    counted = int(np.count_nonzero(inside > inside[0]))
    return counted / float(inside[-1] - inside[0])

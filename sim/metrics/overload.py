"""Tell whether more is asked than the deployment can serve."""

from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

import numpy as np

from sim.metrics.backlog import Backlog
from sim.metrics.intervals import standard_error, student_t95
from sim.metrics.quantities import finished
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords, Simulation, Status

STRETCHES: Final = 24
"""Stretches of equally many arrivals in which the growth of a count is looked at."""
LEAST_STRETCHES: Final = 4
ARRIVALS_PER_STRETCH: Final = 10
KEEPING_UP: Final = 0.98
"""Completions per arrival below which a deployment does not keep up."""
LEAST_LEAVING: Final = 0.5
"""Completions per arrival below which a short run does not tell whether a deployment keeps up."""


@dataclass(frozen=True, slots=True)
class Load:
    """How the deployment stood up to the traffic."""

    overloaded: bool
    saturated: Window | None = None
    """Of an overloaded run: when every replica was as busy as it can be; `None` if too short."""
    turns: int = 0
    """How often the saturated deployment served as many requests as it holds at once."""
    filling_up: bool = False
    """No queue grows, but the number inside still does: the run ended before it settled."""
    too_short: bool = False
    """Nothing says that it keeps up with steady traffic, and nothing that it does not."""
    front_end: bool = False
    """Of an overloaded run: no request waits for a place, but tokens for the front end."""


class _Count(Protocol):
    """Something that may grow without bound."""

    def at(self, time_s: FloatArray) -> FloatArray:
        """Return how many requests there are at some times, s."""


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

    def empty_s(self) -> FloatArray:
        """Return the times at which somebody leaves and nobody is left, s."""
        went_s = self.went_s[np.isfinite(self.went_s)]
        return np.asarray(went_s[self.at(went_s) == 0])


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
    What waits for a front end with a rate of its own makes the same test, counted in the work of
    a mean request: there is no queue before the GPU then.
    """
    records = simulation.records
    arrivals = records.arrival_s[: simulation.measured]
    open_loop = simulation.steady_state and not simulation.closed_loop
    too_short = open_loop and keeping_up_is_open(records, arrivals)
    if simulation.closed_loop or len(arrivals) < LEAST_STRETCHES * ARRIVALS_PER_STRETCH:
        return Load(overloaded=False, too_short=too_short)
    queue = _flow(records, records.admitted_s)
    middle = len(arrivals) // 2
    if _without_bound(queue, arrivals):
        window, turns = saturated_window(records, float(arrivals[-1]))
        return Load(overloaded=True, saturated=window, turns=turns)
    backlog = Backlog.of(simulation)
    if backlog is not None and _without_bound(backlog, arrivals):
        window, turns = backlog.saturated(records, float(arrivals[-1]))
        return Load(overloaded=True, saturated=window, turns=turns, front_end=True)
    inside = _flow(records, records.last_token_s)
    late = arrivals[middle:]
    behind = _growth(inside, late).sum() > (1 - KEEPING_UP) * len(late)
    filling_up = bool(behind and _grows(inside, late))
    too_short |= filling_up and simulation.steady_state  # a trace is all there is
    return Load(overloaded=False, filling_up=filling_up, too_short=too_short)


def _without_bound(count: _Count, arrivals_s: FloatArray) -> bool:
    """Tell whether a count grows over the second half of the arrivals, or over all of them."""
    late = arrivals_s[len(arrivals_s) // 2 :]
    return _grows(count, late) or (_grows(count, arrivals_s) and _growth(count, late).sum() > 0)


def _flow(records: RequestRecords, went_s: FloatArray, *, replica: int | None = None) -> _Flow:
    """Return the flow from arrival to another event of every request that was let in."""
    let_in = (records.status != Status.REJECTED) & ~np.isnan(records.arrival_s)
    if replica is not None:
        let_in &= records.replica == replica
    went = went_s[let_in]
    return _Flow(
        np.sort(records.arrival_s[let_in]), np.sort(np.where(np.isnan(went), np.inf, went))
    )


def _growth(flow: _Count, arrivals_s: FloatArray) -> FloatArray:
    """Return by how much a count grows over each stretch of the arrivals."""
    stretches = min(STRETCHES, len(arrivals_s) // ARRIVALS_PER_STRETCH)
    edges = np.linspace(0, len(arrivals_s) - 1, max(stretches, 2) + 1).astype(np.int64)
    return np.diff(flow.at(arrivals_s[edges]))


def _grows(flow: _Count, arrivals_s: FloatArray) -> bool:
    """Tell whether a count grows beyond noise, by at least one request a stretch."""
    growth = _growth(flow, arrivals_s)
    if len(growth) < LEAST_STRETCHES:
        return False
    mean = float(growth.mean())
    return mean >= 1 and mean > student_t95(len(growth) - 1) * standard_error(growth)


def keeping_up_is_open(records: RequestRecords, arrivals_s: FloatArray) -> bool:
    """Tell whether a run of steady traffic is too short to say that the deployment keeps up.

    It is where fewer than half as many requests leave over the second half of the arrivals as
    arrive in it: in a deployment that keeps up and has filled as many leave as arrive. A run whose
    last arrival comes before the first answer is the plainest case.
    """
    let_in = records.status != Status.REJECTED
    if len(arrivals_s) < 2 or not let_in.any():
        return False  # one request asks for no rate; what is refused at once needs no time
    middle_s, last_s = arrivals_s[(len(arrivals_s) - 1) // 2], arrivals_s[-1]
    at = records.arrival_s[let_in]
    came = int(np.count_nonzero((at > middle_s) & (at <= last_s)))
    done_s = records.last_token_s[finished(records)]
    left = int(np.count_nonzero((done_s > middle_s) & (done_s <= last_s)))
    return left < came * LEAST_LEAVING


def saturated_window(records: RequestRecords, last_arrival_s: float) -> tuple[Window | None, int]:
    """Return when the deployment worked as hard as it can, and how often it turned over then.

    Requests wait from the time the queue was last empty before the last measured arrival, until a
    replica has nobody left to admit (from then on its batch drains, and what finishes there would
    be too many). In that time completions are counted in turns: as many as are served at once. A
    batch that filled up within a few seconds also finishes within a few seconds, so parts of a
    turn would be too many or too few, by as much as half. The first half of the turns is left
    out: in the first one leave those who came while the deployment filled up, half done and
    sooner than others will. The window begins and ends with a completion, and the first one is not
    counted: so completions over length is a rate without bias. With fewer than two turns there is
    no rate to speak of, and no window.
    """
    done_s = np.sort(records.last_token_s[finished(records)])
    if len(done_s) == 0:
        return None, 0
    queue = _flow(records, records.admitted_s)
    empty_s = queue.empty_s()
    before = empty_s[empty_s <= last_arrival_s]
    start_s = float(before[-1]) if len(before) else float(queue.came_s[0])
    end_s = min(_drains_s(records, last_arrival_s), float(done_s[-1]))
    inside = done_s[(done_s > start_s) & (done_s <= end_s)]
    if len(inside) < 2:
        return None, 0
    served = _served_at_once(records, inside)
    turns = (len(inside) - 1) // served
    if turns < 2:
        return None, turns
    # Those whose turn it is last are the ones of the end: the remainder is at the beginning.
    counted = (turns - turns // 2) * served
    first_s, last_s = float(inside[-1 - counted]), float(inside[-1])
    if first_s == last_s:
        return None, turns
    return Window(first_s, last_s, steady_state=True), turns


def _served_at_once(records: RequestRecords, times_s: FloatArray) -> int:
    """Return how many requests are being served at such times, by the median."""
    inside, waiting = _flow(records, records.last_token_s), _flow(records, records.admitted_s)
    served = inside.at(times_s) - waiting.at(times_s)
    return max(1, round(float(np.median(served))))


def _drains_s(records: RequestRecords, after_s: float) -> float:
    """Return when a replica first has nobody waiting after a time [s]; inf where none ever has.

    A request that never finished belongs to no replica yet, so this may be slightly early.
    """
    drains_s = inf
    for replica in np.unique(records.replica[finished(records)]):
        empty_s = _flow(records, records.admitted_s, replica=int(replica)).empty_s()
        drains_s = min([drains_s, *empty_s[empty_s > after_s][:1].tolist()])
    return drains_s

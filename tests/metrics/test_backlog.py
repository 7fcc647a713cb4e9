"""A front end that falls behind, by hand: work left at the beginnings of passes."""

from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.backlog import Backlog
from sim.metrics.measure import measure
from sim.metrics.notes import FALLING_BEHIND
from sim.metrics.overload import judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.records import FrontEnd, RequestRecords, Simulation

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]
REQUESTS = 400


@pytest.fixture
def handed_out(a_records: Records, a_simulation: Simulate) -> Callable[[float], Simulation]:
    """One request a second that waits for no place, and a second of the front end's per `pace`.

    With a pace of 0.5 each brings 2 s of work: the n-th is handed out at 2 n, and at second n
    n of the 2 n seconds of work are left.
    """

    def simulation(pace: float) -> Simulation:
        arrival_s = np.arange(REQUESTS, dtype=np.float64)
        work_s, left_s = 1 / pace, np.zeros(REQUESTS)
        for place in range(1, REQUESTS):
            left_s[place] = max(0.0, left_s[place - 1] + work_s - 1)
        done_s = arrival_s + left_s + work_s
        records = a_records(
            arrival_s, admitted_s=arrival_s, first_token_s=done_s - 0.01, last_token_s=done_s
        )
        front_end = FrontEnd(
            np.zeros(REQUESTS, np.int64), arrival_s, left_s, np.full(REQUESTS, work_s)
        )
        return a_simulation(records, steady_state=True, front_end=front_end)

    return simulation


def test_what_is_left_is_counted_in_mean_requests(
    handed_out: Callable[[float], Simulation],
) -> None:
    backlog = Backlog.of(handed_out(0.5))
    assert backlog is not None
    assert backlog.request_s == 2
    # at second 100 a hundred seconds of work are left: fifty requests
    assert backlog.at(np.array([0.0, 100.0, 100.5])).tolist() == [0, 50, 50.25]


def test_a_front_end_that_falls_behind_is_overload_though_nobody_waits_for_a_place(
    handed_out: Callable[[float], Simulation],
) -> None:
    simulation = handed_out(0.5)
    load = judge(simulation)
    assert (load.overloaded, load.front_end, load.too_short) == (True, True, False)
    found = measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=1, seed=0)
    assert found.status == "overloaded"
    assert found.front_end_behind
    assert found.notes[0] == FALLING_BEHIND
    # it hands out one answer in two seconds
    assert found.sustainable_requests_per_s == pytest.approx(0.5)


def test_a_front_end_that_keeps_up_is_none(handed_out: Callable[[float], Simulation]) -> None:
    load = judge(handed_out(1.25))
    assert (load.overloaded, load.front_end) == (False, False)


def test_without_a_front_end_there_is_no_backlog(
    a_records: Records, a_simulation: Simulate
) -> None:
    assert Backlog.of(a_simulation(a_records([0.0], last_token_s=[1.0]))) is None

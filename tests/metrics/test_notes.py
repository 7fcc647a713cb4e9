from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.notes import rejected
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.records import FloatArray, RequestRecords, Simulation

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]


@pytest.fixture
def notes_of(a_records: Records, a_simulation: Simulate) -> Callable[..., tuple[str, ...]]:
    def notes(arrival_s: FloatArray, ttft_s: FloatArray, **facts: object) -> tuple[str, ...]:
        records = a_records(
            arrival_s, first_token_s=arrival_s + ttft_s, last_token_s=arrival_s + ttft_s + 1
        )
        simulation = a_simulation(records, **{"closed_loop": True, **facts})
        return measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=1, seed=0).notes

    return notes


def users_at_once(users: int, requests: int) -> FloatArray:
    """All users at 0 s, and one request every second after that."""
    return np.concatenate([np.zeros(users), np.arange(1.0, requests - users + 1)])


def spread(values: FloatArray) -> FloatArray:
    """Differ a little, so that an order exists."""
    return values + np.random.default_rng(0).random(len(values)) / 1000


@pytest.mark.parametrize(("opening", "share"), [(20, "100%"), (15, "75%"), (9, None)])
def test_a_p99_that_is_that_of_the_opening_burst_says_by_how_much(
    notes_of: Callable[..., tuple[str, ...]], opening: int, share: str | None
) -> None:
    # 20 of 2,000 are the slowest 1 %: some of them among the 50 users that begin at once.
    ttft_s = np.full(2000, 0.1)
    ttft_s[:opening] = 5.0
    ttft_s[1900 : 1900 + 20 - opening] = 5.0
    said = [note for note in notes_of(users_at_once(50, 2000), spread(ttft_s)) if "50 " in note]
    assert len(said) == (share is not None)
    if share is not None:
        assert share in said[0]
        assert "5,000 requests" in said[0]


def test_an_opening_burst_that_is_not_slow_is_not_mentioned(
    notes_of: Callable[..., tuple[str, ...]],
) -> None:
    ttft_s = spread(np.full(2000, 0.1))
    assert not any("at once" in note for note in notes_of(users_at_once(5, 2000), ttft_s))


def test_open_traffic_and_loops_without_their_opening_have_no_opening_burst(
    notes_of: Callable[..., tuple[str, ...]],
) -> None:
    arrival_s, ttft_s = users_at_once(50, 2000), np.full(2000, 0.1)
    ttft_s[:50] = 5.0
    assert any("at once" in note for note in notes_of(arrival_s, spread(ttft_s)))
    open_loop = notes_of(arrival_s, spread(ttft_s), closed_loop=False)
    assert not any("at once" in note for note in open_loop)
    # As the frontier measures it: what came first is background, behind the measured requests.
    later = np.roll(arrival_s, -50), np.roll(spread(ttft_s), -50)
    assert not any("at once" in note for note in notes_of(*later, measured=1950))


@pytest.mark.parametrize(("requests", "said"), [(40, True), (99, True), (100, False)])
def test_a_closed_loop_with_few_requests_for_each_user_says_what_its_figures_are_of(
    notes_of: Callable[..., tuple[str, ...]], requests: int, said: bool
) -> None:
    # ten users: a tenth of 100 requests is the opening, a quarter of 40
    arrival_s = users_at_once(10, requests)
    notes = notes_of(arrival_s, spread(np.full(requests, 0.1)))
    found = [note for note in notes if f"10 of the {requests} requests" in note]
    assert bool(found) is said
    if said:
        assert "take 10 for each user or more (100)" in found[0]


def test_rejected_requests_that_warmed_up_are_not_counted_in_the_note() -> None:
    assert rejected([("too long", 12)], 9) == ("9 rejected: too long",)
    assert rejected([("too long", 3)], 0) == ()
    # of several reasons the engine does not tell which were counted
    assert rejected([("a", 2), ("b", 4)], 5) == (
        "2 rejected, warm-up included: a",
        "4 rejected, warm-up included: b",
    )
    assert rejected([("a", 2), ("b", 4)], 6) == ("2 rejected: a", "4 rejected: b")

"""How long prompts wait for their tokeniser, by hand and by theory."""

import numpy as np
import pytest

from sim.engine.habits import Habits
from sim.engine.ingress import Ingress
from sim.records import Traffic


def open_loop(arrival_s: list[float], tokens: list[int]) -> Traffic:
    """Return requests that come at given times."""
    rows = len(tokens)
    return Traffic(np.array(arrival_s), np.array(tokens), np.ones(rows, int), measured=rows)


def test_an_idle_tokeniser_takes_its_time_and_the_rest_follows() -> None:
    """3 us a token: 1,000 tokens take 3 ms, 5 ms of other work come on top."""
    ingress = Ingress(Habits(ingress_s=0.005, ingress_s_per_token=3e-6), 1)
    assert ingress.seen_s(2.0, 1000) == pytest.approx(2.008)
    assert ingress.seen_s(3.0, 1000) == pytest.approx(3.008)


def test_a_burst_of_prompts_waits_for_those_before_as_lindley_says() -> None:
    """64 prompts of 24 ms at once are seen 24, 48, ... ms later: 0.78 s on average."""
    ingress = Ingress(Habits(ingress_s_per_token=3e-6), 1)
    seen_s = ingress.all_seen_s(open_loop([0.0] * 64, [8000] * 64))
    assert seen_s == pytest.approx(0.024 * np.arange(1, 65))
    assert seen_s.mean() == pytest.approx(0.024 * 65 / 2)


def test_tokenisers_of_two_replicas_do_not_wait_for_each_other() -> None:
    """3 us a token: 100,000 tokens take 0.3 s, and the next of that replica waits for them."""
    ingress = Ingress(Habits(ingress_s_per_token=3e-6), 2)
    seen_s = ingress.all_seen_s(open_loop([0.0, 0.001, 0.002, 0.003], [100_000, 10, 10, 10]))
    assert seen_s == pytest.approx([0.3, 0.00103, 0.30003, 0.00303])


def test_random_arrivals_wait_as_long_as_in_the_m_d_1_queue() -> None:
    """Pollaczek-Khinchine: at a load of 0.5 the mean wait is half a service time."""
    rows, service_s = 200_000, 0.01
    gaps_s = np.random.default_rng(0).exponential(2 * service_s, rows)
    arrival_s = np.cumsum(gaps_s)
    ingress = Ingress(Habits(ingress_s_per_token=service_s), 1)
    waits_s = ingress.all_seen_s(open_loop(arrival_s.tolist(), [1] * rows)) - arrival_s - service_s
    assert waits_s.mean() == pytest.approx(service_s / 2, rel=0.03)


def test_without_a_time_per_token_nobody_waits_for_anybody() -> None:
    ingress = Ingress(Habits(ingress_s=0.25), 1)
    assert ingress.all_seen_s(open_loop([0.0, 0.0, 1.0], [9, 9, 9])).tolist() == [0.25, 0.25, 1.25]

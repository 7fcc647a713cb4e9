"""Routers over many replicas against queueing theory.

A replica with one place and a constant pass is a server; answers of geometric length make it an
exponential one.
"""

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import Traffic
from sim.routers import BaseRouter, LeastOutstanding, PowerOfTwo, RoundRobin
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.truth
MEAN_TOKENS, REPLICAS, LOAD = 200, 100, 0.8
PASS_S = 1.0 / MEAN_TOKENS
"""A request takes a second, on average."""


def mean_time_s(router: BaseRouter, seed: int, requests: int = 8_000) -> float:
    """Mean time in the system under Poisson arrivals, the beginning left out."""
    rng = np.random.default_rng([seed, 7])
    arrival_s = np.cumsum(rng.standard_exponential(requests)) / (LOAD * REPLICAS)
    outputs = rng.geometric(1 / MEAN_TOKENS, requests)
    asked = Traffic(arrival_s, np.ones_like(outputs), outputs, requests)
    room = Limits(REPLICAS, 1, 8, KvShape(100_000, 1), 1_000_000, router=router)
    seen = simulate(asked, outputs - 1, Autoregressive(), ConstantPass(PASS_S), room, seed=seed)
    spent_s = seen.records.last_token_s - seen.records.arrival_s
    return float(spent_s[requests // 4 :].mean())


def test_power_of_two_choices_is_as_fast_as_the_supermarket_model_says() -> None:
    """Mitzenmacher (2001): with d = 2 the mean time is the sum of load^(2^i - 2) over i >= 1."""
    theory_s = sum(LOAD ** (2**i - 2) for i in range(1, 8))
    means = [mean_time_s(PowerOfTwo(), seed) for seed in range(4)]
    standard_error_s = np.std(means, ddof=1) / np.sqrt(len(means))
    assert abs(np.mean(means) - theory_s) < 4 * standard_error_s
    assert standard_error_s < 0.03 * theory_s


def test_looking_at_all_replicas_beats_two_and_two_beat_none() -> None:
    all_s, two_s, none_s = (
        mean_time_s(router, seed=1) for router in (LeastOutstanding(), PowerOfTwo(), RoundRobin())
    )
    assert all_s < 0.8 * two_s
    assert two_s < 0.8 * none_s

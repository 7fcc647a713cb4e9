"""Overload against a capacity that is known: c slots of a constant pass serve c / service."""

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.metrics.measure import measure
from sim.metrics.overload import judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.records import Simulation, Traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.truth
PASSES, PASS_S = 50, 2.0**-6
SERVICE_S = PASSES * PASS_S
REQUESTS = 12_000
NEAR = 0.05
CASES = [(1, 1, "constant"), (8, 1, "constant"), (8, 3, "constant"), (4, 1, "geometric")]


def capacity_per_s(slots: int, replicas: int) -> float:
    return slots * replicas / SERVICE_S


def served(
    rate_per_s: float, slots: int, replicas: int, lengths: str, *, seed: int = 0
) -> Simulation:
    rng = np.random.default_rng([seed, slots])
    rows = REQUESTS + REQUESTS // 4
    outputs = np.full(rows, PASSES)
    if lengths == "geometric":
        outputs = rng.geometric(1 / PASSES, rows)
    limits = Limits(
        replicas=replicas,
        max_sequences=slots,
        max_batched_tokens=4096,
        kv=KvShape(blocks=1 << 24, block_tokens=16),
        max_context_tokens=1 << 24,
    )
    traffic = Traffic(
        np.cumsum(rng.exponential(1 / rate_per_s, rows)),
        np.ones(rows, dtype=np.int64),
        outputs,
        measured=REQUESTS,
        steady_state=True,
    )
    return simulate(traffic, outputs - 1, Autoregressive(), ConstantPass(PASS_S), limits)


@pytest.mark.parametrize(("slots", "replicas", "lengths"), CASES)
def test_five_per_cent_below_capacity_is_served_and_five_above_is_overload(
    slots: int, replicas: int, lengths: str
) -> None:
    capacity = capacity_per_s(slots, replicas)
    below = served((1 - NEAR) * capacity, slots, replicas, lengths)
    above = served((1 + NEAR) * capacity, slots, replicas, lengths)
    assert not judge(below).overloaded
    assert judge(above).overloaded


@pytest.mark.parametrize(("slots", "replicas", "lengths"), CASES)
def test_the_sustainable_rate_is_the_capacity_within_five_per_cent(
    slots: int, replicas: int, lengths: str
) -> None:
    capacity = capacity_per_s(slots, replicas)
    for load in (1.05, 2.0):
        simulation = served(load * capacity, slots, replicas, lengths)
        metrics = measure(
            simulation, slo=Slo(), pipeline=Pipeline(), gpus=1, seed=0, intervals=False
        )
        assert metrics.sustainable_requests_per_s == pytest.approx(capacity, rel=NEAR)


def test_a_search_over_the_rate_ends_within_five_per_cent_of_capacity() -> None:
    """As a planner would: halve the stretch between a rate that is served and one that is not."""
    low, high = 0.5 * capacity_per_s(8, 1), 1.6 * capacity_per_s(8, 1)
    while high / low > 1.02:
        middle = (low * high) ** 0.5
        if judge(served(middle, 8, 1, "constant")).overloaded:
            high = middle
        else:
            low = middle
    assert low == pytest.approx(capacity_per_s(8, 1), rel=NEAR)

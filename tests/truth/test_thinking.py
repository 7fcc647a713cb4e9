"""Users whose thinking is spread, and sessions, against the theory of closed networks."""

from functools import partial
from math import factorial
from typing import Any

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import FloatArray, RequestRecords, Traffic, Turns
from sim.workload import ClosedLoop
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.truth
PASS_S = 2.0**-10
PASSES = 400
ROWS = 2_000
USERS = 5


def served(outputs: Any, turns: Turns, slip: float) -> RequestRecords:
    kv = KvShape(blocks=1 << 24, block_tokens=16)
    asked = Traffic(
        *(np.zeros(ROWS), np.ones_like(outputs), outputs, ROWS), users=USERS, turns=turns
    )
    cost = ConstantPass(PASS_S * slip)
    return simulate(
        asked, outputs - 1, Autoregressive(), cost, Limits(1, 1, 8192, kv, 1 << 24)
    ).records


def theory_per_s(service_s: float, think_s: float) -> float:
    """Throughput of one server for five users (machine repair; Gross and Harris, 1974).

    Exponential service; the thinking may have any distribution (BCMP, 1975).
    """
    ways = [
        factorial(USERS) / factorial(USERS - k) * (service_s / think_s) ** k
        for k in range(USERS + 1)
    ]
    return (1 - ways[0] / sum(ways)) / service_s


def excess(turns_each: int, thinking: dict[str, Any], *, slip: float = 1.0) -> FloatArray:
    """Return by what share the throughput of some runs lies above theory.

    Theory gets the means of the very answers and pauses of the run, which takes most of the noise.
    """
    loop = ClosedLoop.model_validate({"users": USERS, **thinking})
    first = np.arange(0, ROWS + 1, turns_each)
    found = []
    for seed in range(4):
        draws = np.random.default_rng(seed)
        outputs = draws.geometric(1 / PASSES, ROWS)
        turns = Turns(first, loop.pauses_s(ROWS, draws))
        records = served(outputs, turns, slip)
        rate_per_s = ROWS / records.last_token_s.max()
        theory = theory_per_s(float(outputs.mean()) * PASS_S, float(turns.pause_s.mean()))
        found.append(rate_per_s / theory - 1)
    return np.array(found)


@pytest.mark.parametrize("turns_each", [1, 5])
@pytest.mark.parametrize(
    "think",
    [{"think": "exponential"}, {"think": "lognormal", "think_cv": 1.5}],
    ids=lambda think: think["think"],
)
def test_throughput_does_not_depend_on_the_spread_of_thinking(
    think: dict[str, Any], turns_each: int
) -> None:
    measure = partial(excess, turns_each, {**think, "think_s": 3 * PASSES * PASS_S})
    above = measure()
    error = above.std(ddof=1) / np.sqrt(len(above))
    # waiting for the pass in flight costs a user at most one of some 400 passes
    assert -4 * error - 1 / PASSES < above.mean() < 4 * error
    slow = measure(slip=1.05)
    error = slow.std(ddof=1) / np.sqrt(len(slow))
    assert slow.mean() < -4 * error - 1 / PASSES, "blind to a slip of 5 %"

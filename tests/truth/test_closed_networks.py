"""Users who wait for their answers, against the theory of closed networks."""

from math import factorial

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import FloatArray, IntArray, RequestRecords, Traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.truth
PASS_S = 2.0**-10
PASSES = 400
SERVICE_S = PASSES * PASS_S


def served(
    outputs: IntArray, *, users: int, slots: int, think_s: float, slip: float = 1.0
) -> RequestRecords:
    limits = Limits(
        replicas=1,
        max_sequences=slots,
        max_batched_tokens=8192,
        kv=KvShape(blocks=1 << 24, block_tokens=16),
        max_context_tokens=1 << 24,
    )
    traffic = Traffic(
        np.zeros(len(outputs)),
        np.ones_like(outputs),
        outputs,
        measured=len(outputs),
        users=users,
        think_s=think_s,
    )
    cost = ConstantPass(PASS_S * slip)
    return simulate(traffic, outputs - 1, Autoregressive(), cost, limits).records


@pytest.mark.parametrize("think_s", [0.0, 0.125])
def test_enough_slots_serve_all_users_in_step(think_s: float) -> None:
    """Each round takes the service and the thinking, whatever the number of users."""
    records = served(np.full(60, PASSES), users=6, slots=6, think_s=think_s)
    rounds = records.last_token_s.reshape(10, 6)
    by_hand = np.arange(10) * (SERVICE_S + think_s) + SERVICE_S
    np.testing.assert_allclose(rounds, np.repeat(by_hand[:, None], 6, axis=1), rtol=1e-12)


def test_who_comes_back_while_others_run_waits_for_the_pass_in_flight() -> None:
    """Answers of 400 and 1000 passes, no thinking: the first user loses one pass each round."""
    records = served(np.array([400, 1000, 400, 400]), users=2, slots=2, think_s=0.0)
    ends = (records.last_token_s / PASS_S).tolist()
    assert ends == [400, 1000, 801, 1202]


def test_too_few_slots_are_never_empty_and_littles_law_gives_the_time_of_an_answer() -> None:
    users, slots, rounds = 12, 4, 50
    records = served(np.full(users * rounds, PASSES), users=users, slots=slots, think_s=0.0)
    throughput = len(records) / records.last_token_s.max()
    assert throughput == pytest.approx(slots / SERVICE_S, rel=1e-3)
    spent_s = (records.last_token_s - records.arrival_s)[10 * users :].mean()
    assert spent_s == pytest.approx(users / throughput, rel=1e-3)


def theory_per_s(users: int, servers: int, service_s: float, think_s: float) -> float:
    """Throughput of the machine-repair model: exponential service, any thinking (BCMP 1975)."""
    ways = [
        factorial(users)
        / factorial(users - k)
        / (factorial(min(k, servers)) * float(servers) ** max(0, k - servers))
        * (service_s / think_s) ** k
        for k in range(users + 1)
    ]
    busy = sum(min(k, servers) * way for k, way in enumerate(ways)) / sum(ways)
    return busy / service_s


def excess(users: int, slots: int, think_s: float, *, slip: float = 1.0) -> FloatArray:
    """Return by what share the throughput of some runs lies above theory.

    Theory gets the mean length of the very answers of the run, which takes most of the noise.
    """
    found = []
    for seed in range(6):
        outputs = np.random.default_rng(seed).geometric(1 / PASSES, 2500)
        records = served(outputs, users=users, slots=slots, think_s=think_s, slip=slip)
        rate_per_s = len(outputs) / records.last_token_s.max()
        theory = theory_per_s(users, slots, float(outputs.mean()) * PASS_S, think_s)
        found.append(rate_per_s / theory - 1)
    return np.array(found)


@pytest.mark.parametrize(("users", "slots", "thinks"), [(5, 1, 3.0), (8, 2, 2.0), (3, 1, 0.5)])
def test_geometric_answers_come_as_fast_as_the_machine_repair_model_says(
    users: int, slots: int, thinks: float
) -> None:
    above = excess(users, slots, thinks * SERVICE_S)
    error = above.std(ddof=1) / np.sqrt(len(above))
    # waiting for the pass in flight costs a user at most one of some 400 passes
    assert -4 * error - 1 / PASSES < above.mean() < 4 * error
    slow = excess(users, slots, thinks * SERVICE_S, slip=1.03)
    error = slow.std(ddof=1) / np.sqrt(len(slow))
    assert slow.mean() < -4 * error - 1 / PASSES, "blind to a slip of 3 %"


def mean_value_analysis(
    users: int, servers: int, service_s: float, think_s: float
) -> tuple[float, float]:
    """Throughput and response time by exact mean-value analysis (Reiser and Lavenberg 1980).

    Users are added one after the other; a newcomer finds what one user fewer leaves on average.
    With several servers that is the law of how many are there, `there[k]`.
    """
    there = [1.0]
    rate = response_s = 0.0
    for count in range(1, users + 1):
        response_s = sum(
            k / min(k, servers) * there[k - 1] * service_s for k in range(1, count + 1)
        )
        rate = count / (think_s + response_s)
        more = [rate * service_s / min(k, servers) * there[k - 1] for k in range(1, count + 1)]
        there = [1 - sum(more), *more]
    return rate, response_s


@pytest.mark.parametrize(("users", "servers"), [(1, 1), (5, 1), (8, 2), (20, 4)])
def test_mean_value_analysis_is_the_machine_repair_model(users: int, servers: int) -> None:
    for think_s in (0.2, 1.0, 7.0):
        rate, response_s = mean_value_analysis(users, servers, 0.5, think_s)
        assert rate == pytest.approx(theory_per_s(users, servers, 0.5, think_s), rel=1e-9)
        assert rate * (think_s + response_s) == pytest.approx(users)


def slower_than_theory(users: int, slots: int, think_s: float, *, slip: float = 1.0) -> FloatArray:
    """Return by what share the mean response of some runs lies above mean-value analysis."""
    found = []
    for seed in range(6):
        outputs = np.random.default_rng([seed, users]).geometric(1 / PASSES, 2500)
        records = served(outputs, users=users, slots=slots, think_s=think_s, slip=slip)
        spent_s = (records.last_token_s - records.arrival_s)[20 * users :].mean()
        service_s = float(outputs[20 * users :].mean()) * PASS_S
        found.append(spent_s / mean_value_analysis(users, slots, service_s, think_s)[1] - 1)
    return np.array(found)


@pytest.mark.parametrize(
    ("utilisation", "users", "slots", "thinks"),
    [(0.3, 3, 1, 8.6), (0.6, 6, 2, 3.7), (0.8, 12, 4, 2.4)],
)
def test_response_times_of_a_closed_network_are_those_of_mean_value_analysis(
    utilisation: float, users: int, slots: int, thinks: float
) -> None:
    rate, _ = mean_value_analysis(users, slots, SERVICE_S, thinks * SERVICE_S)
    assert rate * SERVICE_S / slots == pytest.approx(utilisation, abs=0.03)
    above = slower_than_theory(users, slots, thinks * SERVICE_S)
    error = above.std(ddof=1) / np.sqrt(len(above))
    # waiting for the pass in flight costs a user at most one of some 400 passes
    assert -4 * error < above.mean() < 4 * error + 1 / PASSES
    # The same answers with passes 3 % longer: the difference within a run is nearly free of noise.
    slow = slower_than_theory(users, slots, thinks * SERVICE_S, slip=1.03) - above
    noise = slow.std(ddof=1) / np.sqrt(len(slow))
    assert slow.mean() > 4 * noise
    assert slow.mean() > 0.03 - 1 / PASSES, "blind to a slip of 3 %"

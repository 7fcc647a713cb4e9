"""The engine as a queue: with a constant pass time, c slots of a replica are c servers.

A request of n output tokens takes n passes (its prompt fits into the first one), so lengths decide
the service times: constant lengths give M/D/c, geometric ones nearly M/M/c.

The tolerance comes from the standard error. To make it small in little time, the mean wait is
taken in two steps: of very many requests by the recursion of Kiefer and Wolfowitz, plus the mean
difference between engine and recursion for a few thousand of them, request by request.
"""

from collections.abc import Callable
from math import factorial, inf
from typing import NamedTuple

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import FloatArray, Traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.truth
PASS_S = 1e-3
MEAN_PASSES = 400
SERVICE_S = MEAN_PASSES * PASS_S
RUNS, REQUESTS, THROUGH_ENGINE = 600, 2500, 3
SETTLED = slice(500, None)
"""Each run begins with an empty queue."""


class Queue(NamedTuple):
    """Gaps between arrivals [s] and services [passes], shape [runs, requests]."""

    gap_s: FloatArray
    passes: FloatArray
    servers: int

    @classmethod
    def draw(cls, kind: str, utilisation: float, servers: int, *, erlang: int = 1) -> "Queue":
        rng, shape = np.random.default_rng(servers), (RUNS, REQUESTS)
        mean_s = SERVICE_S / servers / utilisation
        gap_s = rng.gamma(erlang, mean_s / erlang, shape)
        if kind == "constant":
            return cls(gap_s, np.full(shape, float(MEAN_PASSES)), servers)
        return cls(gap_s, rng.geometric(1 / MEAN_PASSES, shape).astype(float), servers)

    def waits_s(self) -> FloatArray:
        """Return the wait of every request (Kiefer and Wolfowitz 1955; Lindley 1952 for one)."""
        waits = np.zeros_like(self.gap_s)
        left_s = np.zeros((RUNS, self.servers))  # work that each server has left, in order
        for number in range(REQUESTS):
            left_s = np.sort(np.maximum(left_s - self.gap_s[:, number, None], 0.0), axis=1)
            waits[:, number] = left_s[:, 0]
            left_s[:, 0] += self.passes[:, number] * PASS_S
        return waits

    def engine_waits_s(self, run: int, slip: float = 1.0) -> FloatArray:
        """Return the wait of every request of one run in the engine; `slip` > 1: longer passes."""
        outputs = self.passes[run].astype(np.int64)
        arrival_s = np.cumsum(self.gap_s[run])
        traffic = Traffic(arrival_s, np.ones_like(outputs), outputs, measured=REQUESTS)
        cost, limits = ConstantPass(PASS_S * slip), slots(self.servers)
        seen = simulate(traffic, outputs - 1, Autoregressive(), cost, limits).records
        return np.asarray(seen.admitted_s - seen.arrival_s)


def slots(count: int, replicas: int = 1) -> Limits:
    return Limits(
        replicas=replicas,
        max_sequences=count,
        max_batched_tokens=8192,
        kv=KvShape(blocks=1 << 24, block_tokens=16),
        max_context_tokens=1 << 24,
    )


def check(queue: Queue, theory_s: float) -> None:
    """Hold the engine's mean wait against theory, and a slip of 3 % outside the tolerance."""
    waits = queue.waits_s()
    per_run = waits[:, SETTLED].mean(axis=1)
    error_s = per_run.std(ddof=1) / np.sqrt(RUNS)
    sample = range(THROUGH_ENGINE)
    exact = np.array([queue.engine_waits_s(run) - waits[run] for run in sample])
    # Who finds a free slot waits for the end of the pass in flight, if there is one; no more.
    longest_s = PASS_S if queue.servers > 1 else 0.0
    assert -1e-9 < exact.min() <= exact.max() < longest_s + 1e-9
    mean_s = per_run.mean() + exact[:, SETTLED].mean()
    assert -4 * error_s < mean_s - theory_s < 4 * error_s + longest_s
    slow = np.array([queue.engine_waits_s(run, slip=1.03) - waits[run] for run in sample])
    slow_s = per_run.mean() + slow[:, SETTLED].mean()
    assert slow_s - theory_s > 4 * error_s + longest_s, "blind to a slip of 3 %"


def pollaczek_khinchine_s(utilisation: float, kind: str) -> float:
    """Mean wait of M/G/1: rho / (1 - rho) x E[S^2] / (2 E[S])."""
    second = 1.0 if kind == "constant" else 2 - 1 / MEAN_PASSES  # E[S^2] / E[S]^2
    return utilisation / (1 - utilisation) * second / 2 * SERVICE_S


@pytest.mark.parametrize("kind", ["constant", "geometric"])
@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_one_slot_waits_as_long_as_pollaczek_and_khinchine_say(
    kind: str, utilisation: float
) -> None:
    queue = Queue.draw(kind, utilisation, servers=1)
    check(queue, pollaczek_khinchine_s(utilisation, kind))


def erlang_c_s(utilisation: float, servers: int) -> float:
    """Mean wait of M/M/c; geometric lengths are exponential to one part in 800."""
    load = utilisation * servers
    full = load**servers / factorial(servers) / (1 - utilisation)
    waiting = full / (sum(load**k / factorial(k) for k in range(servers)) + full)
    return waiting * SERVICE_S / servers / (1 - utilisation)


@pytest.mark.parametrize(("servers", "utilisation"), [(2, 0.5), (2, 0.7), (4, 0.8), (16, 0.9)])
def test_several_slots_wait_as_long_as_erlang_says(servers: int, utilisation: float) -> None:
    check(Queue.draw("geometric", utilisation, servers), erlang_c_s(utilisation, servers))


def test_replicas_in_turn_are_queues_of_their_own() -> None:
    """Every second arrival of a Poisson stream has Erlang-2 gaps; E2/M/1 has a closed form.

    sigma solves sigma = (2 lambda / (2 lambda + mu - mu sigma))^2, with lambda per replica; the
    wait is sigma / (mu (1 - sigma)).
    """
    rate, mu = 0.8 / SERVICE_S, 1 / SERVICE_S
    sigma, before = 0.5, inf
    while abs(sigma - before) > 1e-14:
        before, sigma = sigma, (2 * rate / (2 * rate + mu - mu * sigma)) ** 2
    theory_s = sigma / (mu * (1 - sigma))
    queue = Queue.draw("geometric", 0.8, 1, erlang=2)
    check(queue, theory_s)
    # and two replicas of one slot under twice the traffic are two such queues
    one, two = (np.cumsum(queue.gap_s[run]) for run in range(2))
    arrival_s = np.sort(np.concatenate([one, two]))
    outputs = queue.passes[:2].astype(np.int64).ravel()
    traffic = Traffic(arrival_s, np.ones_like(outputs), outputs, measured=len(outputs))
    cost, strategy = ConstantPass(PASS_S), Autoregressive()
    both = simulate(traffic, outputs - 1, strategy, cost, slots(1, replicas=2)).records
    for turn in range(2):
        mine = Traffic(
            arrival_s[turn::2], np.ones(REQUESTS, int), outputs[turn::2], measured=REQUESTS
        )
        alone = simulate(mine, outputs[turn::2] - 1, strategy, cost, slots(1)).records
        np.testing.assert_allclose(both.last_token_s[turn::2], alone.last_token_s, rtol=1e-12)


def test_who_finds_a_free_slot_waits_for_the_pass_in_flight_half_of_it_on_average() -> None:
    rng, count = np.random.default_rng(0), 8_000
    arrival_s = np.cumsum(rng.exponential(SERVICE_S / 4, count))
    outputs = rng.geometric(1 / MEAN_PASSES, count)
    traffic = Traffic(arrival_s, np.ones_like(outputs), outputs, measured=count)
    cost = ConstantPass(PASS_S)
    seen = simulate(traffic, outputs - 1, Autoregressive(), cost, slots(10_000)).records
    waits = seen.admitted_s - seen.arrival_s
    assert waits.max() < PASS_S * (1 + 1e-9)
    # four in service on average (M/G/infinity): none with probability exp(-4), and no wait then
    error_s = PASS_S / np.sqrt(12 * count)
    theory_s = (1 - np.exp(-4)) * PASS_S / 2
    assert waits.mean() == pytest.approx(theory_s, abs=4 * error_s)


SHAPES: list[Callable[[], Queue]] = [
    lambda: Queue.draw("constant", 0.9, 8),
    lambda: Queue.draw("geometric", 0.95, 3),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_single_wait_is_that_of_the_queue_to_less_than_a_pass(
    shape: Callable[[], Queue],
) -> None:
    queue = shape()
    waits = queue.waits_s()
    for run in range(2):
        late = queue.engine_waits_s(run) - waits[run]
        assert -1e-9 < late.min() <= late.max() < PASS_S + 1e-9

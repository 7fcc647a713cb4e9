"""Where a multi-token strategy stops to pay: the simulator against the closed form.

With T(Q) the time of a pass over Q positions, decoding one token a pass yields B / T(B) at batch
B, a strategy of q positions and tau tokens a pass B tau / T(B q). Under a hard roofline
T(Q) = max(T0, k Q), ridge Q* = T0 / k, no cost of drafts, prompts or KV, they are equal at
B* = tau Q* / q. Under a p-norm, T(Q) = (T0^p + (k Q)^p)^(1/p), at
B* = Q* ((tau^p - 1) / (q^p - tau^p))^(1/p).
"""

from functools import cache
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest

from sim.cost import NO_LIMIT, ForwardPass, KvShape, PassLoad
from sim.decoding import Autoregressive, Speculative, Strategy
from sim.engine import Limits, simulate
from sim.records import Traffic
from sim.workload import stream

T0_S = 0.02
RIDGE = 400
POSITIONS = 4
SURVIVAL = (0.7, 0.5, 0.3)
TAU = 1 + sum(SURVIVAL)
KV_S = 1e-7
"""Per KV token of a sequence and pass: 2 ms for a context of 20,000, against 50 us a position."""
ANSWER_TOKENS = 16_000  # so long that the first and the last pass of an answer do not matter

pytestmark = pytest.mark.truth


class Roofline(ForwardPass):
    """T(Q) of the closed form: nothing but the query positions counts."""

    def __init__(self, p: float) -> None:
        self.p, self.reaches = p, ()

    def seconds(self, sequences: int, positions: int, *_rest: Any, **_capped: Any) -> float:
        compute_s = T0_S / RIDGE * positions
        if self.p == inf:
            return max(T0_S, compute_s)
        return float((T0_S**self.p + compute_s**self.p) ** (1 / self.p))

    def pass_s(self, load: PassLoad) -> float:
        return self.seconds(*load)

    def line(self, sequences: int, positions: int, *_rest: Any) -> tuple[float, float, int]:
        return self.seconds(sequences, positions), 0.0, NO_LIMIT


@cache
def speculative(kind: str = "ngram") -> Speculative:
    """Drafts that cost nothing: copies, or in a tree as wide as the chain is long."""
    keys = {"draft_tokens": 3, "survival": SURVIVAL, "draft": {"kind": "ngram"}}
    if kind == "tree":  # two drafts deep, and as many positions and tokens a pass
        keys |= {"draft_tokens": 2, "survival": (0.9, 0.6), "tree": {"nodes": POSITIONS}}
    return Speculative.model_validate(keys)


@cache
def tokens_per_s(strategy: Strategy, batch: int, p: float) -> float:
    answers = np.full(batch, ANSWER_TOKENS)
    traffic = Traffic(np.zeros(batch), np.ones(batch, dtype=np.int64), answers, batch, users=batch)
    limits = Limits(
        replicas=1,
        max_sequences=batch,
        max_batched_tokens=1 << 20,
        kv=KvShape(blocks=1 << 30, block_tokens=16),
        max_context_tokens=1 << 30,
    )
    passes = strategy.draw_passes(answers, stream(0, "acceptance"))
    simulation = simulate(traffic, passes, strategy, Roofline(p), limits)
    return float(answers.sum() / simulation.records.last_token_s.max())


def lead(batch: int, p: float, kind: str = "ngram") -> float:
    drafted = tokens_per_s(speculative(kind), batch, p)
    return drafted / tokens_per_s(Autoregressive(), batch, p)


def closed_form(p: float) -> float:
    if p == inf:
        return TAU * RIDGE / POSITIONS
    return float(RIDGE * ((TAU**p - 1) / (POSITIONS**p - TAU**p)) ** (1 / p))


def simulated(p: float, kind: str) -> float:
    """Batch at which the lead is 1, from two batches around it: log-log, where it is straight."""
    low, high = round(closed_form(p) * 0.92), round(closed_form(p) * 1.08)
    at_low, at_high = log(lead(low, p, kind)), log(lead(high, p, kind))
    assert at_low > 0 > at_high
    return exp(log(low) + at_low / (at_low - at_high) * log(high / low))


@pytest.mark.parametrize("kind", ["ngram", "tree"])
@pytest.mark.parametrize("p", [inf, 4.0, 2.4, 1.4])
def test_speculation_breaks_even_where_the_closed_form_says(p: float, kind: str) -> None:
    assert simulated(p, kind) == pytest.approx(closed_form(p), rel=0.03)


class WithKv(Roofline):
    """The same, and every KV token that is read takes its time, however many positions see it."""

    def seconds(self, sequences: int, positions: int, *rest: Any, **_capped: Any) -> float:
        _, read = rest[:2]
        return super().seconds(sequences, positions) + KV_S * float(read)

    def line(
        self, sequences: int, positions: int, _logits: float, growths: Any
    ) -> tuple[float, float, int]:
        read, _, growth, _ = growths[0]
        return super().seconds(sequences, positions) + KV_S * read, KV_S * growth, NO_LIMIT


@pytest.mark.parametrize("batch", [round(TAU * RIDGE / POSITIONS), RIDGE, 2 * RIDGE])
def test_where_kv_reads_dominate_speculation_wins_beyond_the_break_even(batch: int) -> None:
    """KV is read once a pass: T = k q N + c KV N, and tau tokens for nearly the same read."""
    times = []
    for strategy in (Autoregressive(), speculative()):
        answers = np.full(batch, 400)
        prompts = np.full(batch, 20_000)
        traffic = Traffic(np.zeros(batch), prompts, answers, batch, users=batch)
        limits = Limits(1, batch, 1 << 30, KvShape(1 << 30, 16), 1 << 30)
        passes = strategy.draw_passes(answers, stream(0, "acceptance"))
        records = simulate(traffic, passes, strategy, WithKv(inf), limits).records
        times.append(float((records.last_token_s - records.first_token_s).mean()))
    assert times[0] / times[1] > 0.8 * TAU


@pytest.mark.parametrize(("p", "beyond_the_hard_one"), [(2.4, 1.12), (1.4, 1.34), (64.0, 1.0)])
def test_a_round_ridge_moves_the_break_even_up(p: float, beyond_the_hard_one: float) -> None:
    assert closed_form(p) / closed_form(inf) == pytest.approx(beyond_the_hard_one, abs=0.005)


def test_below_the_ridge_of_its_own_positions_speculation_gains_its_tokens_per_pass() -> None:
    assert lead(RIDGE // POSITIONS, inf) == pytest.approx(TAU, rel=0.02)


def test_far_beyond_the_ridge_it_loses_the_positions_that_are_thrown_away() -> None:
    assert lead(2 * RIDGE, inf) == pytest.approx(TAU / POSITIONS, rel=0.02)

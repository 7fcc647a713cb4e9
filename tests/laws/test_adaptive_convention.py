"""What it costs that a pass carries the mean over the budgets of adaptive verification.

The literal engine below draws confidences for every round, picks the budget by trying all, hands
it out to the likeliest drafts and lets each be accepted with the probability that it has.
"""

import numpy as np
import pytest

from sim.cost import ForwardPass, PassLoad
from sim.decoding import Speculative
from sim.engine import simulate
from sim.records import FloatArray, Traffic
from tests.laws.building import a_cost
from tests.laws.test_mean_convention import PROMPT, ROOMY

pytestmark = pytest.mark.laws
DRAFTS, ANSWER, KAPPA = 5, 300, 1.4


def pass_s(cost: ForwardPass, kv: FloatArray, drafts: int) -> float:
    count, positions = len(kv), len(kv) + drafts
    return cost.pass_s(
        PassLoad(count, positions, positions, kv.sum(), kv.sum() * positions / count)
    )


def literal_ends_s(cost: ForwardPass, batch: int, acceptance: float, seed: int) -> FloatArray:
    rng, now = np.random.default_rng(seed), 0.0
    missing, ends_s = np.full(batch, ANSWER - 1), np.zeros(batch)
    while (missing > 0).any():
        active = np.flatnonzero(missing > 0)
        shape = (len(active), DRAFTS)
        confidence = rng.beta(KAPPA * acceptance, KAPPA * (1 - acceptance), shape)
        survival = np.cumprod(confidence, axis=1)
        best = np.sort(survival.ravel())[::-1]
        kv = PROMPT + ANSWER - 1.0 - missing[active]
        rates = [
            (len(active) + best[:budget].sum()) / pass_s(cost, kv, budget)
            for budget in range(0, len(best) + 1, max(1, len(active) // 4))
        ]
        budget = int(np.argmax(rates)) * max(1, len(active) // 4)
        verified = (survival >= best[budget - 1]).sum(axis=1) if budget else np.zeros(len(active))
        now += pass_s(cost, kv, budget)
        right = rng.random(shape) < confidence
        accepted = np.cumprod(right & (np.arange(DRAFTS) < verified[:, None]), axis=1).sum(axis=1)
        missing[active] -= 1 + accepted
        ends_s[active[missing[active] <= 0]] = now
    return ends_s


@pytest.mark.parametrize("batch", [1, 16, 64])
@pytest.mark.parametrize("acceptance", [0.5, 0.8])
def test_the_mean_of_the_budgets_moves_the_end_of_answers_by_four_percent_at_most(
    batch: int, acceptance: float
) -> None:
    strategy = Speculative.model_validate(
        {
            "draft_tokens": DRAFTS,
            "acceptance_rate": acceptance,
            "draft": {"kind": "ngram"},
            "policy": {"kind": "adaptive", "confidence_concentration": KAPPA},
        }
    )
    cost, outputs = a_cost(), np.full(batch, ANSWER)
    traffic = Traffic(np.zeros(batch), np.full(batch, PROMPT), outputs, measured=batch)
    means, literal = [], []
    for seed in range(max(1, 24 // batch)):
        literal.append(float(literal_ends_s(cost, batch, acceptance, seed).mean()))
        passes = strategy.draw_passes(outputs, np.random.default_rng(seed))
        seen = simulate(traffic, passes, strategy, cost, ROOMY)
        means.append(float((seen.records.last_token_s - seen.leaps.duration_s[0]).mean()))
    # 24 answers of 100 rounds or more: a standard error of 1 % in either mean
    assert np.mean(means) == pytest.approx(np.mean(literal), rel=0.04)

"""Policies against their rules, worked out by hand or by trying everything."""

from math import ceil
from typing import Any

import numpy as np
import pytest

from sim.cost import ForwardPass, KvShape
from sim.decoding import Adaptive, Autoregressive, OffAbove, Speculative, Strategy
from sim.engine import Limits, simulate
from sim.engine.policies import Mode, adopt
from sim.engine.policies.adaptive import AdaptiveVerification
from sim.engine.policies.off_above import OFF, OffAboveBatch
from sim.records import Simulation, Traffic
from tests.laws.building import a_cost

BUDGET = 1 << 20
RIDGE = 400
ALIKE = 1000.0
ROOMY = Limits(1, 64, BUDGET, KvShape(1 << 20, 16), 1 << 20)


class HardRoofline(ForwardPass):
    """A pass takes 10 ms up to 400 positions and grows in proportion beyond."""

    def __init__(self) -> None:
        self.reaches = ()

    def seconds(self, sequences: int, positions: int, *_rest: Any, **_capped: Any) -> float:
        return 0.01 * max(1.0, positions / RIDGE)


class Stairs(HardRoofline):
    """A pass takes 10 ms for each graph of four positions that it fills or begins."""

    def seconds(self, sequences: int, positions: int, *_rest: Any, **_capped: Any) -> float:
        return 0.01 * ceil(positions / 4)


def chain(policy: dict[str, Any] | None = None, **keys: Any) -> Speculative:
    stated = {"draft_tokens": 3, "acceptance_rate": 0.7, "draft": {"kind": "medusa"}}
    return Speculative.model_validate({**stated, "policy": policy, **keys})


def adaptive(survival: tuple[float, ...], concentration: float) -> AdaptiveVerification:
    settings = Adaptive(kind="adaptive", confidence_concentration=concentration)
    return AdaptiveVerification(settings, survival, HardRoofline(), None, BUDGET)


def survival(acceptance: float, drafts: int) -> tuple[float, ...]:
    return tuple(acceptance**place for place in range(1, drafts + 1))


def run(strategy: Strategy, answers: list[int]) -> Simulation:
    outputs = np.array(answers)
    traffic = Traffic(
        np.zeros(len(answers)), np.full(len(answers), 50), outputs, len(answers), users=4
    )
    passes = strategy.draw_passes(outputs, np.random.default_rng(0))
    return simulate(traffic, passes, strategy, a_cost(), ROOMY, draft_cost=a_cost())


def test_off_is_off_above_so_many_sequences_and_where_the_budget_is_short() -> None:
    settings = OffAbove(kind="off_above", sequences=10)
    policy = OffAboveBatch(settings, positions=4, max_batched_tokens=28)
    assert [policy.mode(n, 0.0) == OFF for n in (1, 7, 8, 11)] == [False, False, True, True]


def test_a_policy_that_is_always_off_decodes_one_token_a_pass_to_the_last_bit() -> None:
    answers = [5, 40, 17, 33, 1, 20]
    off = run(chain({"kind": "off_above", "sequences": 0}), answers).records
    plain = run(Autoregressive(), answers).records
    np.testing.assert_allclose(off.last_token_s, plain.last_token_s, rtol=1e-12)
    assert off.chunks.tolist() == plain.chunks.tolist() == answers
    np.testing.assert_allclose(off.max_gap_s, plain.max_gap_s, rtol=1e-12)


def test_a_policy_that_is_never_off_changes_nothing() -> None:
    answers = [5, 40, 17, 33, 1, 20]
    never = run(chain({"kind": "off_above", "sequences": 64}), answers).records
    always = run(chain(), answers).records
    assert never.last_token_s.tolist() == always.last_token_s.tolist()
    assert never.chunks.tolist() == always.chunks.tolist()


def test_where_all_rounds_are_alike_the_free_positions_are_verified_and_no_more() -> None:
    """100 sequences: 300 drafts are free under a ridge of 400, the next 100 cost a quarter more.

    300 drafts: 100 (1 + 0.7 + 0.49 + 0.343) = 253 tokens a pass; 400: 277 / 1.25 = 222.
    """
    drafts = survival(0.7, 7)
    mode = adaptive(drafts, ALIKE).mode(100, 100_000.0)
    # alike but for a little: what is best of the fourth position may be taken along
    assert mode.verified_share == pytest.approx(4 / 8, rel=0.03)
    assert mode.accepted_share == pytest.approx((0.7 + 0.49 + 0.343) / sum(drafts), rel=0.03)


def test_where_positions_are_free_all_drafts_are_verified() -> None:
    assert adaptive(survival(0.7, 7), 2.0).mode(10, 1000.0) == Mode(8, 1.0, 1.0, drafting=True)


def test_far_beyond_the_ridge_next_to_nothing_is_verified_unless_it_is_sure() -> None:
    busy = adaptive(survival(0.3, 3), ALIKE).mode(2000, 1e6)
    assert busy.verified_share == pytest.approx(1 / 4, rel=0.02)
    knowing = adaptive(survival(0.3, 3), 0.01).mode(250, 1e5)
    # a drafter that knows gets all that will be accepted (0.417 of 3) into what is free
    assert (1 + 0.417) / 4 < knowing.verified_share <= RIDGE / (4 * 250)
    assert knowing.accepted_share == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("sequences", [1, 16, 100, 300])
@pytest.mark.parametrize("concentration", [0.5, 2.0, 20.0])
def test_adaptive_verification_yields_at_least_what_the_best_fixed_length_does(
    sequences: int, concentration: float
) -> None:
    drafts, cost = survival(0.7, 7), HardRoofline()
    mode = adaptive(drafts, concentration).mode(sequences, 1000.0 * sequences)
    tokens = 1 + mode.accepted_share * sum(drafts)
    positions = round(mode.verified_share * 8 * sequences)
    fixed = [
        (1 + sum(drafts[:length])) / cost.seconds(sequences, sequences * (1 + length))
        for length in range(8)
    ]
    assert tokens / cost.seconds(sequences, positions) > 0.985 * max(fixed)


def test_more_confidence_is_worth_more() -> None:
    drafts, cost = survival(0.7, 7), HardRoofline()

    def rate(concentration: float) -> float:
        mode = adaptive(drafts, concentration).mode(200, 2e5)
        tokens = 1 + mode.accepted_share * sum(drafts)
        return tokens / cost.seconds(200, round(mode.verified_share * 1600))

    known, some, none = (rate(concentration) for concentration in (0.1, 2.0, ALIKE))
    assert known > 1.05 * some > 1.05 * 1.05 * none


def test_the_rest_of_an_answer_takes_its_own_share_of_accepted_drafts() -> None:
    """30 tokens in 10 rounds: 2 drafts a round. Half of the drafts: 2 tokens a pass."""
    plan = chain().plan(100, 31, 10)
    (phase,) = plan.phases
    half = Mode(4, accepted_share=0.5, verified_share=0.6, drafting=True)
    rest = adopt(half, plan, phase, kv=110.0)
    assert rest is not None
    assert rest.kv_growth == 2.0
    assert rest.passes == 10  # 20 tokens left
    full = Mode(4, accepted_share=1.0, verified_share=1.0, drafting=True)
    assert adopt(full, plan, phase, 110.0) is None
    off = adopt(OFF, plan, phase, 110.0)
    assert off is not None
    assert (off.kv_growth, off.passes, off.positions) == (1.0, 20, 1)


@pytest.mark.parametrize("acceptance", [0.6, 0.75, 0.9])
def test_between_two_graphs_the_choice_by_round_is_no_worse_than_the_best_fixed_one(
    acceptance: float,
) -> None:
    """A mean of positions between two graphs would pay for the larger one in every round."""
    mean, cost = survival(acceptance, 7), Stairs()
    settings = Adaptive(kind="adaptive", confidence_concentration=1.4)
    mode = AdaptiveVerification(settings, mean, cost, None, BUDGET).mode(1, 1000.0)
    seconds = mode.time_share * cost.seconds(1, round(mode.verified_share * 8))
    rate = (1.0 + mode.accepted_share * sum(mean)) / seconds
    fixed = [(1.0 + sum(mean[:drafts])) / cost.seconds(1, 1 + drafts) for drafts in range(8)]
    assert 0.01 <= seconds <= 0.02
    assert rate > 0.999 * max(fixed)

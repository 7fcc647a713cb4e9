"""Strategies that nobody ships: whatever keeps to the protocol of plans is served as it says."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.cost import ForwardPass, KvShape, PassLoad
from sim.decoding import DraftPass, DraftWork, Phase, Plan
from sim.engine import Limits, simulate
from sim.records import IntArray, Traffic
from tests.engine.agreement import MODES, check_against_oracle
from tests.laws.building import Case, a_cost, both_costs, costs, limits, traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.laws


@dataclass(frozen=True)
class FullSequence:
    """Diffusion over prompt and canvas at once: no prefill, no KV, all visible at the end."""

    denoise_passes: int
    name: str = "full_sequence"
    draft_work: DraftWork | None = None

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        return np.full_like(output_tokens, self.denoise_passes)

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        length = input_tokens + output_tokens
        phase = Phase(
            passes=passes,
            positions=length,
            logit_positions=float(output_tokens),
            kv_growth=0.0,
            read_extra=float(length),
            pair_extra=float(length * length),
            slots_extra=0.0,
            chunk_passes=passes,
            visible_tokens=output_tokens,
        )
        return Plan(prefill_tokens=0, prefill_yields=False, phases=(phase,))

    def mean_passes(self, output_tokens: float) -> float:
        return 1.0

    def stretch(self, sequences: int) -> float:
        return 1.0


ROOMY = Limits(
    replicas=1,
    max_sequences=64,
    max_batched_tokens=1000,
    kv=KvShape(blocks=1, block_tokens=16),
    max_context_tokens=10_000,
)


def requests(*sizes: tuple[int, int]) -> Traffic:
    inputs, outputs = np.array(sizes, dtype=np.int64).T
    return Traffic(np.zeros(len(sizes)), inputs, outputs, measured=len(sizes))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("denoise_passes", [1, 2, 7])
def test_an_answer_that_comes_all_at_once_has_its_first_token_with_its_last(
    denoise_passes: int, mode: Literal["leap", "pass"]
) -> None:
    strategy, asked, cost = FullSequence(denoise_passes), requests((100, 60)), a_cost()
    passes = strategy.draw_passes(asked.output_tokens, np.random.default_rng(0))
    seen = simulate(asked, passes, strategy, cost, ROOMY, mode=mode)
    load = PassLoad(
        sequences=1, positions=160, logit_positions=60.0, context_tokens=160.0, pairs=160.0 * 160
    )
    whole_s = denoise_passes * cost.pass_s(load)
    assert seen.records.first_token_s[0] == pytest.approx(whole_s, rel=1e-12)
    assert seen.records.last_token_s[0] == pytest.approx(whole_s, rel=1e-12)
    assert seen.records.chunks[0] == 1
    assert np.isnan(seen.records.max_gap_s[0])
    assert seen.gaps.weights.sum() == 0


def test_a_strategy_without_kv_uses_none_and_is_held_back_only_by_the_token_budget() -> None:
    strategy, asked = FullSequence(4), requests(*[(200, 100)] * 6)
    passes = strategy.draw_passes(asked.output_tokens, np.random.default_rng(0))
    seen = simulate(asked, passes, strategy, a_cost(), ROOMY)
    assert seen.kv_peak_share == 0
    assert not seen.leaps.kv_used_tokens.any()
    assert not seen.leaps.prefill_s.any()
    assert seen.leaps.sequences.max() == 3  # three times 300 positions fit into 1000
    assert seen.records.preemptions.sum() == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    strategy=st.builds(FullSequence, denoise_passes=st.integers(1, 12)),
    asked=traffic(),
    cost=costs(),
    sizes=limits(),
)
def test_full_sequence_diffusion_agrees_with_the_oracle(
    strategy: FullSequence, asked: Traffic, cost: ForwardPass, sizes: Limits
) -> None:
    passes = strategy.draw_passes(asked.output_tokens, np.random.default_rng(0))
    check_against_oracle(Case(asked, passes, strategy, cost, sizes))


@dataclass(frozen=True)
class Scripted:
    """A plan for each row, of any phases that the protocol allows."""

    plans: tuple[Plan, ...]
    draft_work: DraftWork | None
    name: str = "scripted"

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        return np.arange(len(output_tokens))

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        return self.plans[passes]

    def mean_passes(self, output_tokens: float) -> float:
        return 1.0

    def stretch(self, sequences: int) -> float:
        return 1.0


@st.composite
def phases(draw: st.DrawFn, *, yields: bool) -> Phase:
    """Return a phase; after a token of the prefill each pass shows something."""
    chunk = 1 if yields else draw(st.integers(1, 4))
    positions, growth = draw(st.integers(1, 6)), draw(st.sampled_from([0.0, 1 / 3, 1.0, 2.5]))
    passes = chunk * draw(st.integers(1, 5))
    return Phase(
        passes=passes,
        positions=positions,
        logit_positions=draw(st.sampled_from([0.0, 0.5, 1.0])) * positions,
        kv_growth=growth,
        read_extra=draw(st.sampled_from([0.0, float(positions)])),
        pair_extra=draw(st.sampled_from([0.0, positions * (positions + 1) / 2])),
        slots_extra=growth + draw(st.sampled_from([0.0, 1.0, 6.5])),
        chunk_passes=chunk,
        visible_tokens=passes if yields or draw(st.booleans()) else 0,
    )


def drafts() -> st.SearchStrategy[DraftWork]:
    """Any passes of a drafter, as a share of the served model's or of a model of its own."""
    passes = st.builds(DraftPass, st.integers(1, 3), st.integers(1, 5), st.integers(0, 1))
    return st.builds(
        DraftWork,
        st.lists(passes, min_size=1, max_size=3).map(tuple),
        st.sampled_from([None, 0.1, 1.0]),
        st.booleans(),
    )


@st.composite
def scripted(draw: st.DrawFn) -> Case:
    """Return a scenario of plans that have nothing in common."""
    asked, plans = draw(traffic()), []
    yields = draw(st.booleans())
    for tokens in asked.input_tokens.tolist():
        prefill = tokens if yields or draw(st.booleans()) else 0
        least = 0 if yields else 1
        parts = draw(st.lists(phases(yields=yields), min_size=least, max_size=3))
        if parts:  # a plan ends when it has shown its last token
            parts[-1] = parts[-1]._replace(visible_tokens=parts[-1].passes)
        plans.append(Plan(prefill, yields, tuple(parts)))
    strategy = Scripted(tuple(plans), draw(st.none() | drafts()))
    cost, draft_cost = draw(both_costs(strategy))
    return Case(asked, np.arange(len(asked)), strategy, cost, draw(limits()), draft_cost)


@pytest.mark.parametrize("mode", MODES)
def test_a_prompt_stands_still_where_those_who_decode_need_more_than_the_budget(
    mode: Literal["leap", "pass"],
) -> None:
    """Budget 8: two decode at 1 position each, then at 6, beside a prompt of 12 tokens.

    Its chunks are 6, 0, 0 and 6, and never below nothing; its one pass is the fifth.
    """
    one = Phase(1, 1, 1.0, 1.0, 1.0, 1.0, 1.0, 1, 1)
    wide = Phase(2, 6, 6.0, 1.0, 6.0, 21.0, 6.0, 1, 2)
    both, prompt = Plan(0, prefill_yields=False, phases=(one, wide)), Plan(12, False, (one,))
    strategy = Scripted((both, both, prompt), None)
    asked, room = requests((1, 3), (1, 3), (12, 1)), Limits(1, 9, 8, KvShape(99, 1), 99)
    seen = simulate(asked, np.arange(3), strategy, ConstantPass(1.0), room, mode=mode)
    assert seen.records.last_token_s.tolist() == [3, 3, 5]
    assert seen.leaps.positions.sum() == 2 * (1 + 6 + 6) + 12 + 1
    check_against_oracle(Case(asked, np.arange(3), strategy, ConstantPass(1.0), room))


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(case=scripted())
def test_any_plan_agrees_with_the_oracle(case: Case) -> None:
    check_against_oracle(case)


@pytest.mark.slow
@settings(max_examples=2_000, suppress_health_check=list(HealthCheck))
@given(case=scripted())
def test_thousands_of_plans_agree_with_the_oracle(case: Case) -> None:
    check_against_oracle(case)

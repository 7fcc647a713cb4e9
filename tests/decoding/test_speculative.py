"""Rounds of speculative decoding against the theory of Leviathan et al. (arXiv:2211.17192)."""

from itertools import accumulate
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sim.decoding import RelativeDraft, Speculative

DRAFT = RelativeDraft(work_share=0.1)


def chain(*conditional: float) -> Speculative:
    return Speculative(
        draft_tokens=len(conditional), conditional_acceptance=conditional, draft=DRAFT
    )


@pytest.mark.truth
@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("draft_tokens", [1, 3, 7])
def test_equal_acceptance_has_the_mean_of_the_closed_form(
    acceptance: float, draft_tokens: int
) -> None:
    theory = (1 - acceptance ** (draft_tokens + 1)) / (1 - acceptance)
    strategy = chain(*[acceptance] * draft_tokens)
    assert strategy.mean_tokens_per_pass() == pytest.approx(theory, rel=1e-12)


def test_certain_acceptance_yields_every_draft_and_one_token_more() -> None:
    strategy = chain(1.0, 1.0, 1.0)
    assert strategy.mean_tokens_per_pass() == 4.0
    # the prefill gives the first token, each round four more
    rounds = strategy.draw_passes(np.array([1, 2, 5, 6, 9]), np.random.default_rng(0))
    assert rounds.tolist() == [0, 1, 1, 2, 2]


def test_a_drafter_that_is_never_right_decodes_one_token_a_round() -> None:
    rounds = chain(0.0, 0.9).draw_passes(np.array([1, 2, 50]), np.random.default_rng(0))
    assert rounds.tolist() == [0, 1, 49]


def expected_rounds(conditional: tuple[float, ...], missing: int) -> float:
    """Mean rounds to `missing` tokens: E(m) = 1 + sum over j of P(j accepted) E(m - j - 1)."""
    reach = (1.0, *accumulate(conditional, mul), 0.0)
    chance = [reach[j] - reach[j + 1] for j in range(len(conditional) + 1)]

    rounds = [0.0]
    for left in range(1, missing + 1):
        after = [rounds[max(0, left - accepted - 1)] for accepted in range(len(chance))]
        rounds.append(1.0 + sum(map(mul, chance, after)))
    return rounds[missing]


@pytest.mark.truth
@pytest.mark.parametrize("conditional", [(0.7, 0.7, 0.7, 0.7), (0.53, 0.6, 0.74), (0.9, 0.1)])
def test_short_answers_take_more_rounds_than_their_length_over_the_mean(
    conditional: tuple[float, ...],
) -> None:
    answer, rows, strategy = 20, 40_000, chain(*conditional)
    drawn = strategy.draw_passes(np.full(rows, answer), np.random.default_rng(1))
    error = drawn.std(ddof=1) / np.sqrt(rows)
    theory = expected_rounds(conditional, answer - 1)
    assert abs(drawn.mean() - theory) < 4 * error
    assert 4 * error < 0.03 * theory  # a slip of 3 % would be seen
    assert theory > 1.02 * (answer - 1) / strategy.mean_tokens_per_pass()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_survival_says_the_same_as_the_conditional_figures(given_figures: list[float]) -> None:
    conditional = tuple(given_figures)
    survival = tuple(accumulate(conditional, mul))
    same = Speculative(draft_tokens=len(survival), survival=survival, draft=DRAFT)
    outputs = np.arange(1, 60)
    one, two = (
        strategy.draw_passes(outputs, np.random.default_rng(0))
        for strategy in (chain(*conditional), same)
    )
    assert one.tolist() == two.tolist()
    assert same.mean_tokens_per_pass() == chain(*conditional).mean_tokens_per_pass()


def test_a_round_verifies_the_drafts_and_one_position_more_over_kv_that_is_read_once() -> None:
    plan = chain(0.5, 0.5, 0.5).plan(input_tokens=100, output_tokens=31, passes=15)
    (phase,) = plan.phases
    assert plan.prefill_yields
    assert phase.positions == phase.logit_positions == 4
    assert phase.kv_growth * 15 == pytest.approx(30)  # the first token came from the prefill
    assert phase.read_extra == 4  # not four times the context
    assert phase.pair_extra == 1 + 2 + 3 + 4  # causal among themselves


def test_the_drafter_runs_once_for_each_token_that_it_drafts() -> None:
    work = chain(0.5, 0.5, 0.5).draft_work
    assert work is not None
    assert (work.passes_per_round, work.share) == (3, 0.1)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"draft_tokens": 2}, "acceptance has no default"),
        (
            {"draft_tokens": 1, "conditional_acceptance": [0.5], "survival": [0.5]},
            "one of",
        ),
        ({"draft_tokens": 3, "conditional_acceptance": [0.5]}, "one per position"),
        ({"draft_tokens": 2, "survival": [0.5, 0.6]}, "rises"),
        ({"draft_tokens": 1, "survival": [1.5]}, "less than or equal to 1"),
        ({"draft_tokens": 0, "survival": []}, "greater than or equal to 1"),
        ({"draft_tokens": 1, "survival": [0.5], "draft": {"work_share": 0}}, "greater than 0"),
    ],
)
def test_figures_that_make_no_sense_are_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Speculative.model_validate({"draft": {"work_share": 0.1}, **keys})

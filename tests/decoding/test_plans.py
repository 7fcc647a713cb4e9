"""What every strategy promises the engine; a new one is covered by its name in the union."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sim.decoding import Plan
from tests.laws.building import KINDS, strategies_of

pytestmark = pytest.mark.laws
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
LENGTHS = st.lists(st.integers(1, 400), min_size=1, max_size=20)


def plans(data: st.DataObject, kind: type[BaseModel]) -> list[tuple[int, int, int, Plan]]:
    """Return (input tokens, output tokens, passes, plan) of some requests of any strategy."""
    strategy = data.draw(strategies_of(kind))
    outputs = np.array(data.draw(LENGTHS))
    passes = strategy.draw_passes(outputs, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert passes.shape == outputs.shape
    inputs = data.draw(st.integers(1, 3000))
    return [
        (inputs, answer, count, strategy.plan(inputs, answer, count))
        for answer, count in zip(outputs.tolist(), passes.tolist(), strict=True)
    ]


@EVERY_KIND
@settings(max_examples=50)
@given(data=st.data())
def test_a_plan_shows_exactly_the_tokens_that_were_asked_in_the_passes_that_were_drawn(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    for inputs, answer, passes, plan in plans(data, kind):
        assert plan.visible_tokens == answer
        assert plan.passes == passes == sum(phase.passes for phase in plan.phases)
        assert plan.prefill_tokens in {0, inputs}
        assert 1 <= plan.chunks <= answer


@EVERY_KIND
@settings(max_examples=50)
@given(data=st.data())
def test_the_engine_can_keep_the_promises_of_a_plan(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    for _, _, _, plan in plans(data, kind):
        assert plan.prefill_tokens or not plan.prefill_yields
        assert not plan.phases or plan.phases[-1].visible_tokens, "it goes on after its last token"
        for phase in plan.phases:
            assert phase.passes > 0
            assert phase.passes % phase.chunk_passes == 0, "the last chunk would never be seen"
            # twice where a guess is fed back through the vocabulary
            assert 0 <= phase.logit_positions <= 2 * phase.positions
            assert phase.positions >= 1
            assert phase.kv_growth >= 0
            assert phase.slots_extra >= phase.kv_growth, "no room for what a pass commits"
            assert phase.read_extra >= 0
            assert phase.pair_extra >= 0
            if plan.prefill_yields:  # what the engine assumes of plans that go on from a token
                assert phase.chunk_passes == 1
                assert phase.visible_tokens > 0


@EVERY_KIND
@settings(max_examples=50)
@given(data=st.data())
def test_peaks_of_a_plan_are_those_of_its_passes_one_by_one(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    for _, _, _, plan in plans(data, kind):
        kv, peak = float(plan.prefill_tokens), float(plan.prefill_tokens)
        for phase in plan.phases:
            for _ in range(phase.passes):
                peak = max(peak, kv + phase.slots_extra)
                kv += phase.kv_growth
        assert plan.peak_kv_tokens == pytest.approx(peak, rel=1e-9)
        assert plan.peak_positions == max((phase.positions for phase in plan.phases), default=0)


@EVERY_KIND
@settings(max_examples=12)
@given(data=st.data())
def test_long_answers_take_as_many_passes_as_the_mean_says(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    strategy, answer, rows = data.draw(strategies_of(kind)), 6_000, 100
    drawn = strategy.draw_passes(np.full(rows, answer), np.random.default_rng(0))
    error = drawn.std(ddof=1) / np.sqrt(rows)
    mean = strategy.mean_passes(answer)
    # at its ends an answer may miss a block or round, of less than 20 tokens here
    assert abs(drawn.mean() - mean) < 5 * error + 20 / answer * mean
    assert error < 0.1 * mean


@EVERY_KIND
@settings(max_examples=30)
@given(data=st.data())
def test_the_same_random_stream_gives_the_same_draw(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    strategy, outputs = data.draw(strategies_of(kind)), np.array(data.draw(LENGTHS))
    first, again = (strategy.draw_passes(outputs, np.random.default_rng(5)) for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert (first >= 0).all()


@EVERY_KIND
@settings(max_examples=30)
@given(data=st.data())
def test_a_strategy_survives_a_round_trip_through_its_own_keys(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    strategy = data.draw(strategies_of(kind))
    again = kind.model_validate(strategy.model_dump())
    assert again == strategy
    assert hash(again) == hash(strategy), "comparisons tell strategies apart by it"
    assert strategy.name == strategy.model_dump()["name"]

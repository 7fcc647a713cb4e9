"""Canvases: what every pass of a cacheless or cached diffusion answer holds, counted by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from sim.decoding import Diffusion, Phase
from sim.decoding.denoising import TokensPerPass

RNG = np.random.default_rng(0)


def phases(strategy: Diffusion, prompt: int, answer: int) -> tuple[Phase, ...]:
    drawn = strategy.draw_passes(np.array([answer]), np.random.default_rng(0))
    return strategy.plan(prompt, answer, int(drawn[0])).phases


def test_without_a_cache_every_pass_computes_prompt_and_canvas_and_keeps_nothing() -> None:
    strategy = Diffusion(denoise_passes=8, block_tokens=32, canvas_tokens=64)
    (phase,) = phases(strategy, 100, 64)
    assert (phase.passes, phase.positions, phase.logit_positions) == (16, 164, 32)
    assert (phase.read_extra, phase.pair_extra) == (164, 164 * 164)  # both ways
    assert (phase.kv_growth, phase.slots_extra) == (0, 0)
    assert (phase.chunk_passes, phase.chunks, phase.visible_tokens) == (8, 2, 64)


def test_there_is_no_prefill_and_no_token_before_the_first_block() -> None:
    plan = Diffusion(denoise_passes=8, block_tokens=32).plan(100, 32, 8)
    assert (plan.prefill_tokens, plan.prefill_yields) == (0, False)


def test_a_prefix_cache_computes_the_block_and_what_is_behind_it_after_one_whole_pass() -> None:
    strategy = Diffusion(cache="prefix", denoise_passes=4, block_tokens=32, canvas_tokens=96)
    found = [(phase.passes, phase.positions) for phase in phases(strategy, 100, 96)]
    assert found == [(1, 196), (3, 96), (1, 196), (3, 64), (1, 196), (3, 32)]


def test_a_dual_cache_computes_the_block_alone_after_one_whole_pass() -> None:
    strategy = Diffusion(cache="dual", denoise_passes=4, block_tokens=32, canvas_tokens=96)
    found = phases(strategy, 100, 96)
    assert [(phase.passes, phase.positions) for phase in found] == [(1, 196), (3, 32)] * 3
    assert {phase.read_extra for phase in found} == {196.0}  # all keys, whoever made them
    assert {phase.slots_extra for phase in found} == {196.0}


def test_a_cache_may_be_refreshed_more_often_than_once_a_block() -> None:
    strategy = Diffusion(cache="dual", denoise_passes=7, block_tokens=8, refresh_every=3)
    found = [(phase.passes, phase.positions) for phase in phases(strategy, 10, 8)]
    assert found == [(1, 18), (2, 8), (1, 18), (2, 8), (1, 18)]


def test_padding_is_denoised_unless_the_engine_stops_at_the_end() -> None:
    whole = Diffusion(denoise_passes=8, block_tokens=32, canvas_tokens=256)
    soon = whole.model_copy(update={"early_stop": True})
    answer = np.array([65])  # three blocks of eight hold something
    assert whole.draw_passes(answer, RNG).tolist() == [64]
    assert soon.draw_passes(answer, RNG).tolist() == [24]
    shown = [
        (phase.passes, phase.chunk_passes, phase.visible_tokens) for phase in phases(whole, 9, 65)
    ]
    assert shown == [(16, 8, 64), (48, 48, 1)]  # that it is the last token is known at the end
    assert {phase.positions for phase in phases(soon, 9, 65)} == {9 + 256}


def test_an_answer_longer_than_its_canvas_goes_on_on_a_second_one() -> None:
    strategy = Diffusion(denoise_passes=4, block_tokens=32, canvas_tokens=64)
    found = [(phase.passes, phase.positions) for phase in phases(strategy, 10, 100)]
    assert found == [(8, 10 + 64), (8, 10 + 128)]


def test_everything_may_be_held_back_until_the_end() -> None:
    strategy = Diffusion(denoise_passes=4, block_tokens=32, stream="end")
    (phase,) = phases(strategy, 10, 128)
    assert (phase.chunks, phase.chunk_passes, phase.visible_tokens) == (1, 16, 128)


def test_a_fixed_number_of_passes_whatever_the_length_is_marked_idealised() -> None:
    fixed, in_step = (
        Diffusion(denoise_passes=16),
        Diffusion(denoise_passes=TokensPerPass(tokens_per_pass=4)),
    )
    answers = np.array([64, 1024])
    assert fixed.draw_passes(answers, RNG).tolist() == [16, 16]
    assert in_step.draw_passes(answers, RNG).tolist() == [16, 256]
    assert "idealised" in fixed.label
    assert "idealised" in fixed.basis
    assert "idealised" not in in_step.label
    assert "idealised" not in Diffusion(denoise_passes=16, canvas_tokens=64).label


def test_logits_are_those_of_the_block_or_of_all() -> None:
    block = Diffusion(cache="dual", denoise_passes=4, block_tokens=8, canvas_tokens=16)
    everything = block.model_copy(update={"logits": "all"})
    assert [phase.logit_positions for phase in phases(block, 10, 16)] == [8] * 4
    assert [phase.logit_positions for phase in phases(everything, 10, 16)] == [26, 8, 26, 8]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"denoise_passes": 0}, "greater than or equal to 1"),
        ({"denoise_passes": 4, "block_tokens": 64, "canvas_tokens": 32}, "longer than the canvas"),
        ({"denoise_passes": 4, "refresh_every": 4}, "needs a `cache`"),
        ({"denoise_passes": {"tokens_per_pass": 0}}, "greater than or equal to"),
        ({"denoise_passes": {"measured": []}}, "at least 1 item"),
        ({"denoise_passes": {"table": "no-such"}}, "there is no table `no-such`"),
        ({}, "Field required"),
    ],
)
def test_settings_that_make_no_sense_are_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Diffusion.model_validate(keys)

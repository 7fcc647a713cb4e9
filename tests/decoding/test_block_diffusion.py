"""Blocks: denoised, then committed; what the straight line of the plan stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sim.decoding import BlockDiffusion


@pytest.mark.parametrize(
    ("answer", "passes"), [(1, 9), (31, 9), (32, 9), (33, 18), (64, 18), (65, 27)]
)
def test_a_short_answer_pays_for_a_whole_block(answer: int, passes: int) -> None:
    strategy = BlockDiffusion(block_tokens=32, denoise_passes=8)
    drawn = strategy.draw_passes(np.array([answer]), np.random.default_rng(0))
    assert drawn.tolist() == [passes]  # eight to denoise a block and one to commit it


def test_whole_blocks_yield_their_tokens_over_denoising_and_commit() -> None:
    strategy = BlockDiffusion(block_tokens=32, denoise_passes=7)
    assert strategy.mean_tokens_per_pass() == 32 / 8


@given(
    block=st.integers(1, 300),
    denoise=st.integers(1, 60),
    blocks=st.integers(1, 6),
    prompt=st.integers(1, 500),
)
def test_the_straight_line_makes_the_sums_of_the_stairs(
    block: int, denoise: int, blocks: int, prompt: int
) -> None:
    """Over a block, KV read, pairs, logits and commits are those of its passes one by one."""
    strategy, per_block = BlockDiffusion(block_tokens=block, denoise_passes=denoise), denoise + 1
    plan = strategy.plan(prompt, blocks * block, blocks * per_block)
    (phase,) = plan.phases
    assert not plan.prefill_yields
    assert phase.positions == block
    for number in range(blocks):
        committed = prompt + number * block
        stairs_read = per_block * (committed + block)  # every pass reads the KV and the block
        steps = range(number * per_block, (number + 1) * per_block)
        line = [prompt + phase.kv_growth * step for step in steps]
        assert sum(kv + phase.read_extra for kv in line) == pytest.approx(stairs_read)
        pairs = sum(phase.positions * kv + phase.pair_extra for kv in line)
        assert pairs == pytest.approx(block * stairs_read)  # bidirectional inside the block
    assert phase.logit_positions * per_block == pytest.approx(denoise * block)
    assert phase.kv_growth * per_block == pytest.approx(block)


@given(block=st.integers(1, 300), denoise=st.integers(1, 60), prompt=st.integers(1, 500))
def test_the_slots_of_the_line_reach_what_the_block_needs(
    block: int, denoise: int, prompt: int
) -> None:
    """Half way through a block, the line holds what the stairs hold: the KV and the block."""
    (phase,) = (
        BlockDiffusion(block_tokens=block, denoise_passes=denoise)
        .plan(prompt, block, denoise + 1)
        .phases
    )
    middle = denoise / 2
    held = prompt + phase.kv_growth * middle + phase.slots_extra
    assert held == pytest.approx(prompt + block)


@pytest.mark.parametrize("keys", [{"block_tokens": 0}, {"block_tokens": 2000}, {"blocks": 4}])
def test_keys_out_of_bounds_are_refused(keys: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        BlockDiffusion.model_validate({"block_tokens": 32, "denoise_passes": 8, **keys})

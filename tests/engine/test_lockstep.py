"""Blocks in lockstep take the passes of the slowest: times against the expected maximum."""

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import BlockDiffusion, Diffusion
from sim.decoding.denoising import Measured
from sim.engine import Limits, simulate
from sim.records import FloatArray, Traffic
from tests.laws.constant_pass import ConstantPass

PASS_S = 0.01
ROOMY = Limits(
    replicas=1,
    max_sequences=64,
    max_batched_tokens=100_000,
    kv=KvShape(blocks=100_000, block_tokens=16),
    max_context_tokens=100_000,
)
SPREAD = Measured(measured=(2, 6))


def last_token_s(strategy: BlockDiffusion | Diffusion, users: int, passes: int) -> FloatArray:
    """Serve some like requests that come at once, where every pass takes the same time."""
    asked = Traffic(np.zeros(users), np.full(users, 50), np.full(users, 32), measured=users)
    drawn = np.full(users, passes)
    seen = simulate(asked, drawn, strategy, ConstantPass(PASS_S), ROOMY)
    return seen.records.last_token_s


@pytest.mark.parametrize("users", [1, 2, 8])
def test_a_batch_in_lockstep_takes_the_passes_of_its_slowest_block(users: int) -> None:
    strategy = BlockDiffusion(block_tokens=32, denoise_passes=SPREAD, batching="lockstep")
    slowest = 6 - 4 * 0.5**users  # the expected maximum of so many fair draws of 2 and 6
    expected_s = PASS_S * (1 + 5 * (slowest + 1) / (4 + 1))  # a prefill, then 4 + 1 mean passes
    assert last_token_s(strategy, users, 5) == pytest.approx(expected_s)


def test_first_done_goes_on_at_once() -> None:
    strategy = BlockDiffusion(block_tokens=32, denoise_passes=SPREAD)
    assert last_token_s(strategy, 8, 5) == pytest.approx(PASS_S * 6)


def test_without_spread_there_is_nothing_to_wait_for() -> None:
    strategy = Diffusion(block_tokens=32, denoise_passes=4, batching="lockstep")
    assert strategy.stretch(64) == 1.0
    assert last_token_s(strategy, 8, 4) == pytest.approx(PASS_S * 4)

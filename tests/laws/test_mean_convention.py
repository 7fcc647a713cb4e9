"""What it costs to let every pass of a phase carry the mean: against a literal engine.

Strategies commit in bursts. The engine spreads each burst evenly over its passes, which makes
leaps possible. The literal engine below does no such thing: KV grows when tokens are really
committed, and the LM head runs only in passes that need logits.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from sim.cost import ForwardPass, KvShape, PassLoad
from sim.decoding import BlockDiffusion, RelativeDraft, Speculative, Strategy
from sim.engine import Limits, simulate
from sim.records import FloatArray, IntArray, Traffic
from tests.laws.building import a_cost

pytestmark = pytest.mark.laws
ROOMY = Limits(
    replicas=1,
    max_sequences=64,
    max_batched_tokens=1 << 20,
    kv=KvShape(blocks=1 << 20, block_tokens=16),
    max_context_tokens=1 << 20,
)
PROMPT = 500


class Literal(NamedTuple):
    """What one request really puts into one pass."""

    positions: int
    logits: float
    read: float
    pairs: float


def blocks(answer: int, strategy: BlockDiffusion) -> Iterator[Literal]:
    """Denoise with logits, then commit without; KV grows by a block at the commit."""
    kv, block = PROMPT, strategy.block_tokens
    assert isinstance(strategy.denoise_passes, int)
    for _ in range(-(-answer // block)):
        for logits in [block] * strategy.denoise_passes + [0]:
            yield Literal(block, logits, kv + block, block * (kv + block))
        kv += block


def rounds(
    answer: int, acceptance: Sequence[float], rng: np.random.Generator
) -> Iterator[Literal]:
    """Verify, keep what is accepted and one token more, go on from there."""
    kv, missing, queries = PROMPT, answer - 1, len(acceptance) + 1
    while missing > 0:
        yield Literal(queries, queries, kv + queries, queries * kv + queries * (queries + 1) / 2)
        accepted = 0
        while accepted < len(acceptance) and rng.random() < acceptance[accepted]:
            accepted += 1
        kept = min(missing, accepted + 1)
        kv, missing = kv + kept, missing - kept


def literal_ends_s(cost: ForwardPass, requests: list[list[Literal]]) -> FloatArray:
    """Return when each request ends, all having begun together."""
    now, ends_s = 0.0, np.zeros(len(requests))
    for number in range(max(map(len, requests))):
        parts = [request[number] for request in requests if number < len(request)]
        columns = [sum(column) for column in zip(*parts, strict=True)]
        now += cost.pass_s(PassLoad(len(parts), *columns))
        for row, request in enumerate(requests):
            if number + 1 == len(request):
                ends_s[row] = now
    return ends_s


def engine_ends_s(
    cost: ForwardPass, strategy: Strategy, outputs: IntArray, passes: IntArray
) -> FloatArray:
    """Return when each request ends, counted from the end of the pass that prefills them all."""
    inputs = np.full(len(outputs), PROMPT)
    traffic = Traffic(np.zeros(len(outputs)), inputs, outputs, measured=len(outputs))
    seen = simulate(traffic, passes, strategy, cost, ROOMY)
    return np.asarray(seen.records.last_token_s - seen.leaps.duration_s[0])


def answers(batch: int) -> IntArray:
    return np.random.default_rng(0).integers(20, 600, batch)


def error_of_blocks(batch: int, block_tokens: int, denoise_passes: int) -> FloatArray:
    strategy = BlockDiffusion(block_tokens=block_tokens, denoise_passes=denoise_passes)
    cost, outputs = a_cost(), answers(batch)
    passes = strategy.draw_passes(outputs, np.random.default_rng(0))
    literal = literal_ends_s(cost, [list(blocks(int(answer), strategy)) for answer in outputs])
    return engine_ends_s(cost, strategy, outputs, passes) / literal - 1


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize(("block_tokens", "denoise_passes"), [(4, 5), (32, 8), (32, 5), (256, 16)])
def test_spreading_the_commit_of_a_block_moves_no_answer_by_one_percent(
    batch: int, block_tokens: int, denoise_passes: int
) -> None:
    error = error_of_blocks(batch, block_tokens, denoise_passes)
    assert np.abs(error).max() < 0.01


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize("block_tokens", [8, 32])
@pytest.mark.parametrize("denoise_passes", [1, 2])
def test_with_few_denoise_passes_the_commit_pays_for_an_lm_head_but_never_flatters(
    batch: int, block_tokens: int, denoise_passes: int
) -> None:
    """The mean lets each pass read the LM head, also the one in s + 1 that needs no logits."""
    cost = a_cost()
    head_s = sum(part.total_s for part in cost.dense.logits(block_tokens))
    pass_s = cost.pass_s(PassLoad(1, block_tokens, 0.0, PROMPT, PROMPT * block_tokens))
    bound = head_s / ((denoise_passes + 1) * pass_s)
    error = error_of_blocks(batch, block_tokens, denoise_passes)
    assert error.min() > 0
    assert error.max() < bound * 1.05 < 0.04


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize("acceptance", [(0.7, 0.65, 0.6), (0.9,) * 7, (0.3,)])
def test_spreading_the_accepted_tokens_over_the_rounds_moves_no_answer_by_one_in_a_thousand(
    batch: int, acceptance: tuple[float, ...]
) -> None:
    strategy = Speculative(
        draft_tokens=len(acceptance),
        conditional_acceptance=acceptance,
        draft=RelativeDraft(work_share=1e-9),
    )
    cost, outputs, rng = a_cost(), answers(batch), np.random.default_rng(3)
    really = [list(rounds(int(answer), acceptance, rng)) for answer in outputs]
    passes = np.array([len(request) for request in really])
    error = engine_ends_s(cost, strategy, outputs, passes) / literal_ends_s(cost, really) - 1
    assert np.abs(error).max() < 1e-3

"""What anyone can work out with a datasheet, through the whole engine.

Llama-3.1-8B in bf16 on an H100: 6,979,321,856 weights in 32 layers and 525,336,576 in the LM head
are read in every pass (the embeddings, as many as the head, are only looked up).
"""

from dataclasses import replace

import numpy as np
import pytest

from sim.cost import ForwardPass, KvShape, PassLoad
from sim.decoding import Autoregressive, BlockDiffusion, RelativeDraft, Speculative, Strategy
from sim.engine import Limits, simulate
from sim.records import RequestRecords, Traffic
from tests.laws.building import a_cost
from tests.laws.machines import lossless

pytestmark = pytest.mark.truth
LAYERS, HEAD = 6_979_321_856, 525_336_576
BYTES_PER_S, FLOP_PER_S = 3.35e12, 989.5e12
KV_BYTES = 131_072
ROOMY = Limits(
    replicas=1,
    max_sequences=512,
    max_batched_tokens=1 << 20,
    kv=KvShape(blocks=1 << 20, block_tokens=16),
    max_context_tokens=1 << 20,
)


def served(
    cost: ForwardPass,
    prompt: int,
    answer: int,
    *,
    strategy: Strategy | None = None,
    passes: int | None = None,
    limits: Limits = ROOMY,
) -> RequestRecords:
    chosen = strategy or Autoregressive()
    outputs = np.array([answer])
    drawn = chosen.draw_passes(outputs, np.random.default_rng(0)) if passes is None else [passes]
    traffic = Traffic(np.zeros(1), np.array([prompt]), outputs, measured=1)
    return simulate(traffic, np.asarray(drawn), chosen, cost, limits).records


def test_one_user_gets_no_more_tokens_per_second_than_bandwidth_over_weights() -> None:
    """3.35e12 / (2 x 7.50e9) = 223 tokens/s, less what KV, activations and embedding take."""
    records = served(lossless(a_cost()), 1, 1001)
    per_s = 1000 / (records.last_token_s[0] - records.first_token_s[0])
    ceiling = BYTES_PER_S / (2 * (LAYERS + HEAD))
    assert ceiling == pytest.approx(223.2, abs=0.1)
    assert 0.98 * ceiling < per_s < ceiling


def test_the_time_per_token_of_one_user_is_bytes_over_bandwidth_to_the_last_byte() -> None:
    records = served(lossless(a_cost()), 100, 201)
    tpot_s = (records.last_token_s[0] - records.first_token_s[0]) / 200
    # the k-th token after the first reads the KV of 100 + k tokens, its own included: mean 200.5
    activations = 32 * (10240 + 8192 + 32768 + 18432) + 4096 + 128_256
    small = 32 * (8 * 4096 + 3 * 14336)
    moved = 2 * (LAYERS + HEAD + activations + small) + KV_BYTES * 200.5
    assert tpot_s == pytest.approx(moved / BYTES_PER_S, rel=2e-4)


def test_the_first_token_of_a_long_prompt_takes_its_flop_over_the_peak() -> None:
    prompt = 4000
    records = served(lossless(a_cost()), prompt, 1)
    products_s = 2 * LAYERS * prompt / FLOP_PER_S
    attention_s = 32 * 4 * 4096 * (prompt * (prompt + 1) / 2) / FLOP_PER_S
    head_s = 2 * HEAD / BYTES_PER_S  # one position: its weights are read, hardly multiplied
    small_s = prompt * 2 * 32 * (8 * 4096 + 3 * 14336) / BYTES_PER_S
    by_hand = products_s + attention_s + head_s + small_s
    assert by_hand == pytest.approx(0.0675, abs=1e-3)
    # a chunk of 4000 is far beyond the ridge of 295, so the weights hide behind the arithmetic
    assert records.first_token_s[0] == pytest.approx(by_hand, rel=2e-3)
    assert records.first_token_s[0] > by_hand * (1 - 1e-12)


def test_chunks_of_a_prompt_make_the_same_arithmetic_and_read_the_weights_again() -> None:
    cost = lossless(a_cost())
    limits = replace(ROOMY, max_batched_tokens=1000)
    whole, chunked = served(cost, 4000, 1), served(cost, 4000, 1, limits=limits)
    # three more passes over the LM head for a position each; attention is the same sum of pairs
    more_s = 3 * 2 * HEAD / BYTES_PER_S
    late_s = chunked.first_token_s[0] - whole.first_token_s[0]
    assert late_s == pytest.approx(more_s, rel=0.02)


@pytest.mark.parametrize(("acceptance", "tokens"), [(1.0, 4.0), (0.0, 1.0)])
def test_a_perfect_free_drafter_is_as_many_times_faster_as_it_yields_tokens(
    acceptance: float, tokens: float
) -> None:
    """Memory-bound: four positions cost a pass of one, so time falls by tokens per round."""
    strategy = Speculative(
        draft_tokens=3,
        conditional_acceptance=(acceptance,) * 3,
        draft=RelativeDraft(work_share=1e-9),
    )
    cost = lossless(a_cost())
    plain, drafted = served(cost, 10, 401), served(cost, 10, 401, strategy=strategy)

    def decode_s(records: RequestRecords) -> float:
        return float(records.last_token_s[0] - records.first_token_s[0])

    assert decode_s(plain) / decode_s(drafted) == pytest.approx(tokens, rel=5e-3)


def test_a_drafter_of_a_tenth_of_the_work_costs_its_passes() -> None:
    """Three passes of a tenth each: a round takes 1.3 passes."""
    cost, keys = lossless(a_cost()), {"draft_tokens": 3, "conditional_acceptance": (0.5,) * 3}
    free, paid = (
        Speculative.model_validate({**keys, "draft": {"work_share": share}})
        for share in (1e-12, 0.1)
    )
    times = [served(cost, 10, 100, strategy=strategy, passes=50) for strategy in (free, paid)]
    spans = [float(each.last_token_s[0] - each.first_token_s[0]) for each in times]
    assert spans[1] / spans[0] == pytest.approx(1.3, rel=2e-3)


def test_a_block_of_thirty_two_in_nine_passes_shows_its_tokens_every_nine_passes() -> None:
    strategy, cost = BlockDiffusion(block_tokens=32, denoise_passes=8), a_cost()
    records = served(cost, 500, 96, strategy=strategy)
    prefill = PassLoad(0, 0, 0.0, 0.0, 0.0, 1, 500, 500.0, 500 * 501 / 2)
    one_pass_s = cost.pass_s(PassLoad(1, 32, 32 * 8 / 9, 532.0, 32 * 532.0))
    first_s = cost.pass_s(prefill) + 9 * one_pass_s
    assert records.chunks[0] == 3
    assert records.first_token_s[0] == pytest.approx(first_s, rel=1e-3)
    assert records.max_gap_s[0] == pytest.approx(9 * one_pass_s, rel=5e-3)

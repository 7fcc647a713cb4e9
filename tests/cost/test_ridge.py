"""Where a pass turns from memory-bound to compute-bound, by hand."""

import pytest

from sim.cost import PassLoad, ridge_tokens_per_pass
from tests.laws.building import a_cost
from tests.laws.machines import lossless

pytestmark = pytest.mark.truth
# Llama-3.1-8B in bf16, 32 layers and the LM head, per token and per pass
WEIGHTS = 32 * 218_103_808 + 128_256 * 4096
IN_AND_OUT = 32 * (4096 + 6144 + 4096 + 4096 + 4096 + 28672 + 14336 + 4096) + 4096 + 128_256
SMALL = 32 * (8 * 4096 + 3 * 14336)
PAIR_FLOP = 32 * 4 * 4096
KV_BYTES = 131_072
FLOP_PER_S, BYTES_PER_S = 989.5e12, 3.35e12


def by_hand(context: float) -> float:
    """Return M with M x FLOP per token / P = (weights + M x bytes per token) / BW."""
    compute_s = (2 * WEIGHTS + PAIR_FLOP * context) / FLOP_PER_S
    memory_s = (2 * (IN_AND_OUT + SMALL) + KV_BYTES * context) / BYTES_PER_S
    return 2 * WEIGHTS / BYTES_PER_S / (compute_s - memory_s)


@pytest.mark.parametrize("context", [0.0, 50.0, 200.0])
def test_on_peaks_the_ridge_is_where_arithmetic_and_traffic_take_as_long(context: float) -> None:
    ridge = ridge_tokens_per_pass(lossless(a_cost()), context_tokens=context)
    assert ridge is not None
    assert ridge == pytest.approx(by_hand(context), abs=1)
    assert ridge > FLOP_PER_S / BYTES_PER_S  # 295 FLOP per byte, and traffic grows with M too


def test_with_a_long_context_there_is_no_ridge_because_kv_grows_as_fast_as_arithmetic() -> None:
    assert by_hand(1000) < 0
    assert ridge_tokens_per_pass(lossless(a_cost()), context_tokens=1000) is None


def test_verifying_four_tokens_a_sequence_reads_kv_once_and_brings_the_ridge_back() -> None:
    """KV per position falls by four, so a context may be four times as long."""
    cost = lossless(a_cost())
    assert ridge_tokens_per_pass(cost, context_tokens=1000, queries=1) is None
    ridge = ridge_tokens_per_pass(cost, context_tokens=1000, queries=8)
    assert ridge is not None
    assert ridge % 8 == 0
    compute_s = 2 * WEIGHTS / FLOP_PER_S + PAIR_FLOP * 1000 / FLOP_PER_S
    memory_s = (2 * (IN_AND_OUT + SMALL) + KV_BYTES * 1000 / 8) / BYTES_PER_S
    assert ridge == pytest.approx(2 * WEIGHTS / BYTES_PER_S / (compute_s - memory_s), abs=8)


def test_the_bounds_of_the_operations_turn_at_their_own_ridge() -> None:
    """M N K 2 / P against 2 (N K + M (N + K)) / BW for the widest product, 4096 x 28672."""
    inner, outer = 4096, 28672
    turn = inner * outer / (inner * outer * BYTES_PER_S / FLOP_PER_S - (inner + outer))
    for tokens, bound in [(int(turn) - 2, "memory"), (int(turn) + 2, "compute")]:
        load = PassLoad(tokens, tokens, float(tokens), 0.0, 0.0)
        parts = {part.name: part for part in lossless(a_cost()).operations(load)}
        assert parts["gate and up projection"].bound == bound

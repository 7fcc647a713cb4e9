"""One decode pass of three architectures, counted by hand from their published shapes."""

import pytest

from sim.cost import ForwardPass, Operation, even_load
from sim.cost.memory import plan_memory
from sim.deployment import Deployment
from sim.hardware import load_engine
from tests.laws.loads import Layout, gpu_of, machine, model_of
from tests.laws.machines import lossless

pytestmark = pytest.mark.truth
ONE: Layout = (1, 1, 1, 1)
FP8_BLOCK = 1 + 4 / 128**2
"""Bytes of a weight: one, and a 32-bit scale for each block of 128 x 128."""
MXFP4 = (4 + 8 / 32) / 8
"""Four bits, and an 8-bit scale for each 32 (OCP MX 1.0)."""

# Llama 3.1 70B (arXiv:2407.21783, table 3): 80 layers of 8192, 64 heads of 128 and 8 of KV
LLAMA_LAYER = 8192 * (64 + 2 * 8) * 128 + 8192 * 8192 + 3 * 8192 * 28672
LLAMA_HEAD = 8192 * 128_256

# DeepSeek-V3 (arXiv:2412.19437, section 4.2): 61 layers of 7168, 128 heads; the first 3 are dense
MLA = (
    7168 * 1536  # queries down
    + 1536 * 128 * (128 + 64)  # and up
    + 7168 * (512 + 64)  # latent and rotary key
    + 512 * 128 * (128 + 128)  # keys and values; absorbed, they multiply queries and outputs
    + 128 * 128 * 7168  # output
)
DEEPSEEK_DENSE, DEEPSEEK_EXPERT, DEEPSEEK_ROUTER = 3 * 7168 * 18432, 3 * 7168 * 2048, 7168 * 256
DEEPSEEK_HEAD = 7168 * 129_280

# gpt-oss-120b (arXiv:2508.10925, section 2): 36 layers of 2880, 64 heads of 64 and 8 of KV; every
# other layer sees 128 tokens; 4 of 128 experts
OSS_ATTENTION = 2880 * (64 + 2 * 8) * 64 + 64 * 64 * 2880
OSS_ROUTER, OSS_EXPERT, OSS_HEAD = 2880 * 128, 3 * 2880 * 2880, 2880 * 201_088


def operations(cost: ForwardPass, sequences: int, context: float) -> list[Operation]:
    return list(cost.operations(even_load(cost, sequences, context)))


def flop(found: list[Operation]) -> float:
    return sum(part.count * part.flop for part in found)


def stored(found: list[Operation]) -> float:
    """Weights and KV that are read, without activations and what goes over links."""
    kernels = (part for part in found if part.kind == "kernel")
    return sum(part.count * (part.bytes_moved - part.activation_bytes) for part in kernels)


def test_a_dense_model_with_grouped_queries() -> None:
    """Four sequences of 1000 tokens: every weight is read once and used four times."""
    found = operations(machine("llama-3.1-70b", "h200_sxm", ONE), 4, 1000.0)
    weights = 80 * LLAMA_LAYER + LLAMA_HEAD
    assert weights == 69_501_714_432
    pairs = 4 * 1000
    attention = 80 * 2 * 64 * (128 + 128) * pairs  # key and value in each of 64 heads
    assert flop(found) == 2 * 4 * weights + attention
    assert stored(found) == 2 * weights + 80 * 8 * 2 * 128 * 2 * pairs


def test_latent_attention_and_experts() -> None:
    """One sequence of 1000 tokens: of 256 experts a layer reads 8, and the shared one."""
    cost = machine("deepseek-v3", "h200_sxm", ONE, weights="checkpoint")
    found = operations(cost, 1, 1000.0)
    used = 61 * MLA + 3 * DEEPSEEK_DENSE + 58 * (DEEPSEEK_ROUTER + 9 * DEEPSEEK_EXPERT)
    assert used + DEEPSEEK_HEAD == 36_624_596_992  # 37 billion active, less the embedding
    # absorbed: every head meets the latent of 512 + 64 as key and that of 512 as value
    attention = 61 * 2 * 128 * ((512 + 64) + 512) * 1000
    assert flop(found) == pytest.approx(2 * (used + DEEPSEEK_HEAD) + attention, rel=1e-12)
    sixteen_bits = 58 * DEEPSEEK_ROUTER + DEEPSEEK_HEAD
    weights = FP8_BLOCK * (used - 58 * DEEPSEEK_ROUTER) + 2 * sixteen_bits
    assert stored(found) == pytest.approx(weights + 61 * (512 + 64) * 2 * 1000, rel=1e-12)


def test_windows_and_experts_in_four_bits() -> None:
    """Two sequences of 1000 tokens: together they hit 128 (1 - (124/128)^2) = 7.875 experts."""
    cost = machine("gpt-oss-120b", "h100_sxm", ONE, weights="checkpoint")
    found = operations(cost, 2, 1000.0)
    used = 36 * (OSS_ATTENTION + OSS_ROUTER + 4 * OSS_EXPERT) + OSS_HEAD
    seen = 18 * 2 * 1000 + 18 * 2 * 128  # layers x sequences x tokens
    assert flop(found) == pytest.approx(2 * 2 * used + 2 * 64 * (64 + 64) * seen, rel=1e-12)
    sixteen_bits = 36 * (OSS_ATTENTION + OSS_ROUTER) + OSS_HEAD
    experts = 36 * 7.875 * OSS_EXPERT
    by_hand = 2 * sixteen_bits + MXFP4 * experts + 8 * (64 + 64) * 2 * seen
    assert stored(found) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "ranks", "copies", "kv_bytes"),
    [
        ("llama-3.1-70b", 4, 4, 327_680),  # 80 x 8 x 2 x 128 x 2
        ("deepseek-v3", 8, 1, 70_272),  # arXiv:2505.09343, table 1
        ("gpt-oss-120b", 1, 1, 73_728),  # 36 x 8 x 2 x 64 x 2
    ],
)
def test_a_token_of_kv_takes_the_bytes_that_are_published(
    model: str, ranks: int, copies: int, kv_bytes: int
) -> None:
    """Grouped queries share it over ranks; the latent is whole on each."""
    deployment = Deployment(tensor_parallel=ranks, weights="checkpoint")
    plan = plan_memory(model_of(model), gpu_of("h200_sxm"), load_engine("generic"), deployment)
    assert copies * plan.kv_bytes_per_token == kv_bytes


@pytest.mark.parametrize(
    ("model", "gpu", "gigabytes", "tokens_per_s"),
    [
        # 2 x 69.5e9 bytes over 4.8 TB/s
        ("llama-3.1-70b", "h200_sxm", 139.0, 34.5),
        # 36 x (2 x 26.9e6 + 4 x .53125 x 24.9e6) + 2 x 579e6 bytes over 3.35 TB/s
        ("gpt-oss-120b", "h100_sxm", 5.00, 670),
        # 37 GB: 36.6e9 less head in about one byte, the head in two; over 4.8 TB/s
        ("deepseek-v3", "h200_sxm", 37.67, 127.4),
    ],
)
def test_one_user_gets_at_most_bandwidth_over_the_weights_that_a_token_uses(
    model: str, gpu: str, gigabytes: float, tokens_per_s: float
) -> None:
    cost = lossless(machine(model, gpu, ONE, weights="checkpoint"))
    load = even_load(cost, 1, 1.0)
    host_s = cost.host_s(1)
    per_s = 1 / (cost.pass_s(load) - host_s)
    bandwidth = gpu_of(gpu).memory_bandwidth_bytes_per_s.value
    weights = stored(list(cost.operations(load)))
    assert weights == pytest.approx(gigabytes * 1e9, rel=0.002)
    ceiling = bandwidth / weights
    assert 0.97 * ceiling < per_s < ceiling
    assert ceiling == pytest.approx(tokens_per_s, rel=0.01)

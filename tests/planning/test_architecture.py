"""Architectures against one another: what each token reads, what fits, and what it costs."""

from math import floor

import pytest

from sim.cost import even_load
from sim.cost.layout import Layout
from sim.deployment import Deployment
from sim.errors import InputError
from sim.model import load_model
from sim.planning.architecture import (
    ALONE,
    Comparison,
    cache_bytes,
    cache_read_bytes,
    compare_architectures,
)
from sim.scenario import Scenario, resolve
from sim.workload import ClosedLoop, Fixed, Workload

H200 = "h200_sxm"


@pytest.fixture
def base() -> Scenario:
    """Eight GPUs, weights and cache in FP8."""
    return Scenario(
        model="llama-3.1-8b",
        hardware=H200,
        deployment=Deployment(tensor_parallel=8, weights="fp8", kv_precision="fp8"),
        workload=Workload(
            arrivals=ClosedLoop(users=1),
            input_tokens=Fixed(tokens=1),
            output_tokens=Fixed(tokens=1),
        ),
    )


def compared(base: Scenario, *names: str, narrowest: bool = False) -> Comparison:
    return compare_architectures(
        names, base, batches=(1, 64), contexts=(1_000, 32_000, 128_000), narrowest=narrowest
    )


@pytest.mark.parametrize(
    ("name", "tokens", "read"),
    [
        # bf16: layers x (K and V) x KV heads x width x 2 B, for each token that is seen
        ("llama-3.1-70b", 32_000, 80 * 2 * 8 * 128 * 2 * 32_000),
        ("deepseek-v3", 32_000, 61 * 576 * 2 * 32_000),
        ("gpt-oss-120b", 32_000, 18 * 2 * 8 * 64 * 2 * (32_000 + 128)),
        # 2,048 latents are read, and the FP8 keys of the indexer for all tokens
        ("deepseek-v3.2", 32_000, 61 * (576 * 2 * 2_048 + 128 * 32_000)),
        # 12 layers of KV; 36 states in fp32: 32 heads of 128 x 128, and a convolution of
        # three inputs over 2 x 16 x 128 + 32 x 128 channels
        (
            "qwen3-next-80b-a3b",
            8_000,
            12 * 2 * 2 * 256 * 2 * 8_000 + 36 * (32 * 128 * 128 + 3 * 8_192) * 4,
        ),
    ],
)
def test_a_new_token_reads_what_its_layers_see(name: str, tokens: int, read: int) -> None:
    assert cache_read_bytes(load_model(name), ALONE, "bf16", tokens) == read


def test_what_is_kept_is_what_is_read_except_where_attention_is_sparse() -> None:
    for name in ("llama-3.1-70b", "deepseek-v3", "gpt-oss-120b", "qwen3-next-80b-a3b"):
        model = load_model(name)
        kept = cache_bytes(model, "bf16", 32_000)
        assert kept == cache_read_bytes(model, ALONE, "bf16", 32_000)
    sparse = load_model("deepseek-v3.2")
    assert cache_bytes(sparse, "bf16", 32_000) == 61 * (576 * 2 + 128) * 32_000


def test_a_latent_is_read_on_every_rank_and_kv_heads_are_shared_out() -> None:
    eight = Layout(tensor=8, pipeline=1, expert=1, attention_data=1)
    latent, grouped = load_model("deepseek-v3"), load_model("llama-3.1-70b")
    assert cache_read_bytes(latent, eight, "bf16", 1_000) == 61 * 576 * 2 * 1_000
    assert cache_read_bytes(grouped, eight, "bf16", 1_000) == 80 * 2 * 128 * 2 * 1_000


def test_a_cell_is_the_pass_of_the_cost_model_on_all_gpus(base: Scenario) -> None:
    comparison = compared(base, "llama-3.1-70b", "qwen3-235b-a22b")
    cell = comparison.candidates[0].cell(64, 32_000)
    serving = resolve(base.model_copy(update={"model": "llama-3.1-70b"}))
    pass_s = serving.cost.pass_s(even_load(serving.cost, 64, 32_000.0))
    assert cell.pass_s == pytest.approx(pass_s)
    assert cell.gpu_s_per_token == pytest.approx(8 * pass_s / 64)
    # 64 x 32,000 tokens x 20,480 B (FP8, an eighth of them) take 8.7 ms of 4.8 TB/s alone
    assert cell.bound == "memory"
    assert pass_s > 64 * 32_000 * 80 * 2 * 128 / 4.8e12


def test_the_pool_holds_what_is_left_of_the_memory(base: Scenario) -> None:
    comparison = compared(base, "llama-3.1-70b", "llama-3.1-8b")
    candidate = comparison.candidates[0]
    serving = resolve(base.model_copy(update={"model": "llama-3.1-70b"}))
    left = (
        0.9 * serving.gpu.memory_bytes.value
        - candidate.weight_bytes_per_gpu
        - serving.engine.memory_reserve_bytes
    )
    held = candidate.at_context(32_000).most_sequences
    assert held is not None
    assert held == floor(left / (80 * 2 * 128 * 32_000))


def test_each_group_of_a_data_parallel_replica_has_a_pool_of_its_own(base: Scenario) -> None:
    spread = base.with_deployment(tensor_parallel=1, attention_data_parallel=8, expert_parallel=8)
    held = compared(spread, "deepseek-v3", "kimi-k2").candidates[0].at_context(128_000)
    assert held.most_sequences is not None
    assert held.most_sequences % 8 == 0
    assert held.read_bytes_per_gpu == held.read_bytes  # no latent is kept twice


def test_what_does_not_fit_says_so_in_every_cell(base: Scenario) -> None:
    alone = base.with_deployment(tensor_parallel=1, weights="bf16")
    comparison = compared(alone, "llama-3.1-405b", "llama-3.1-8b")
    large, small = comparison.candidates
    assert large.refusal is not None
    assert "GB too much" in large.refusal
    assert {cell.why for cell in large.cells} == {"does not fit"}
    assert large.at_context(1_000).most_sequences is None
    assert large.at_context(1_000).cache_bytes > small.at_context(1_000).cache_bytes
    assert small.refusal is None
    assert small.cell(1, 1_000).why is None
    assert small.cell(64, 128_000).why == "KV full"


def test_a_context_beyond_the_model_is_too_long(base: Scenario) -> None:
    comparison = compared(base, "qwen3-32b", "llama-3.1-8b")
    assert comparison.candidates[0].cell(1, 128_000).why == "too long"
    assert comparison.candidates[0].cell(1, 32_000).why is None


def test_a_layout_that_a_model_cannot_take_is_refused_for_it_alone(base: Scenario) -> None:
    comparison = compared(base, "qwen2.5-7b", "llama-3.1-8b")  # 28 heads on 8 GPUs
    assert {cell.why for cell in comparison.candidates[0].cells} == {"refused"}
    assert comparison.candidates[1].refusal is None


@pytest.mark.parametrize(
    ("names", "width"),
    [
        (("llama-3.1-8b", "qwen3-32b"), 1),
        (("llama-3.1-8b", "llama-3.1-405b"), 4),  # 406 GB in FP8, 135 GB a GPU
        (("llama-3.1-8b", "kimi-k2"), 8),  # 1,026 GB on 8 x 135 GB
    ],
)
def test_the_narrowest_replica_is_the_first_that_all_fit_on(
    base: Scenario, names: tuple[str, ...], width: int
) -> None:
    comparison = compared(base, *names, narrowest=True)
    assert comparison.deployment.tensor_parallel == width


def test_the_same_model_twice_is_refused(base: Scenario) -> None:
    with pytest.raises(InputError, match="is named twice"):
        compared(base, "llama-3.1-8b", "meta-llama/Llama-3.1-8B")

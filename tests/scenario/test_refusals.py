"""What each fact allows on its own and two facts together do not."""

from typing import Any

import pytest

from sim.decoding import Autoregressive, BlockDiffusion
from sim.errors import DoesNotFitError, InputError, UnknownNameError
from sim.scenario import Scenario, resolve

BASE: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "poisson", "requests_per_s": 1},
        "input_tokens": {"kind": "fixed", "tokens": 100},
        "output_tokens": {"kind": "fixed", "tokens": 50},
    },
}
BLOCKS = {"name": "block_diffusion", "block_tokens": 32, "denoise_passes": 8}
DIFFUSION_MODEL = {
    "name": "tiny-diffusion",
    "source": "made up for a test",
    "layers": 2,
    "hidden_size": 256,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 64,
    "intermediate_size": 512,
    "vocab_size": 1000,
    "tied_embeddings": True,
    "qk_norm": False,
    "max_context_tokens": 4096,
    "causal": False,
    "decoding": ["block_diffusion"],
}


def scenario(**changes: Any) -> Scenario:
    return Scenario.model_validate({**BASE, **changes})


@pytest.mark.parametrize("ranks", [3, 5, 6, 7])
def test_ranks_must_divide_the_heads(ranks: int) -> None:
    with pytest.raises(InputError, match="32 query and 8 KV heads") as caught:
        resolve(scenario(deployment={"tensor_parallel": ranks}))
    assert caught.value.where == "deployment.tensor_parallel"
    assert "power of two" in str(caught.value)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_powers_of_two_do(ranks: int) -> None:
    assert resolve(scenario(deployment={"tensor_parallel": ranks})).cost.layout.tensor == ranks


def test_a_causal_model_diffuses_only_as_a_what_if() -> None:
    with pytest.raises(InputError, match="was not trained for block diffusion") as caught:
        resolve(scenario(decoding=BLOCKS))
    assert "what_if: true" in str(caught.value)
    assert resolve(scenario(decoding={**BLOCKS, "what_if": True})).model.causal


def test_a_diffusion_model_needs_no_what_if_and_decodes_no_other_way() -> None:
    diffusing = scenario(model=DIFFUSION_MODEL, decoding=BLOCKS)
    assert not resolve(diffusing).model.causal
    with pytest.raises(InputError, match="cannot decode by autoregressive"):
        resolve(diffusing.with_decoding(Autoregressive()))


LLADA = {"name": "diffusion", "block_tokens": 32, "denoise_passes": 8}


def test_each_diffusion_model_is_told_what_it_was_trained_for() -> None:
    resolve(scenario(model="llada-8b", decoding=LLADA))
    with pytest.raises(InputError, match="use `diffusion`"):
        resolve(scenario(model="llada-8b", decoding=BLOCKS))
    with pytest.raises(InputError, match="use `block_diffusion`"):
        resolve(scenario(model="sdar-8b", decoding=LLADA))
    with pytest.raises(InputError, match="cannot decode by autoregressive; use `diffusion`"):
        resolve(scenario(model="llada-8b"))
    with pytest.raises(InputError, match="was not trained for diffusion"):
        resolve(scenario(decoding=LLADA))


def test_a_pass_over_prompt_and_canvas_cannot_be_split_and_must_fit_into_the_budget() -> None:
    canvas = {**LLADA, "canvas_tokens": 64}
    tight = scenario(model="llada-8b", decoding=canvas, deployment={"max_batched_tokens": 163})
    with pytest.raises(InputError, match="needs 164 positions, more than the budget of 163"):
        resolve(tight)
    resolve(tight.with_deployment(max_batched_tokens=164))


def test_logits_of_whole_blocks_take_memory() -> None:
    plain = scenario(model="sdar-8b", decoding={**BLOCKS, "block_tokens": 1})
    wide = scenario(model="sdar-8b", decoding={**BLOCKS, "block_tokens": 32})
    one, many = (resolve(each).memory for each in (plain, wide))
    # in fp32 for as many positions as a pass may hold: 256 sequences of 32, or the budget
    assert many.reserve_bytes - one.reserve_bytes == min(256 * 32, 8192) * 151_936 * 4
    fed = {**BLOCKS, "block_tokens": 32, "self_conditioning": True}
    kept = resolve(scenario(model="sdar-8b", decoding=fed, deployment={"max_sequences": 4}))
    few = resolve(wide.with_deployment(max_sequences=4))
    assert kept.memory.reserve_bytes - few.memory.reserve_bytes == 4 * 32 * 151_936 * 4


def test_a_block_must_fit_into_the_token_budget() -> None:
    strategy = BlockDiffusion(block_tokens=65, denoise_passes=8, what_if=True)
    tight = scenario(deployment={"max_batched_tokens": 64}).with_decoding(strategy)
    with pytest.raises(InputError, match="65 positions, more than the budget of 64") as caught:
        resolve(tight)
    assert caught.value.where == "deployment.max_batched_tokens"
    resolve(tight.with_deployment(max_batched_tokens=65))


def test_fixed_lengths_must_fit_into_the_context() -> None:
    long = {**BASE["workload"], "input_tokens": {"kind": "fixed", "tokens": 131_072}}
    with pytest.raises(InputError, match="131,122 tokens per request"):
        resolve(scenario(workload=long))


def test_weights_must_fit_into_the_memory() -> None:
    with pytest.raises(DoesNotFitError, match=r"set `deployment\.tensor_parallel: 2`"):
        resolve(scenario(model="llama-3.1-70b"))


@pytest.mark.parametrize(
    ("key", "name", "near"),
    [
        ("model", "llama-3.1-8", "llama-3.1-8b"),
        ("hardware", "h100", "h100_sxm"),
        ("engine", "vlm", "vllm"),
    ],
)
def test_a_name_that_nobody_knows_comes_with_the_nearest(key: str, name: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=near):
        resolve(scenario(**{key: name}))


def test_no_price_is_no_error_and_no_cost() -> None:
    assert resolve(scenario()).quote is None


def test_a_price_without_a_source_is_refused() -> None:
    with pytest.raises(ValueError, match="`source` and `as_of`"):
        scenario(prices={"usd_per_gpu_hour": 2.0})


def test_an_own_price_stands_and_an_unknown_list_is_refused() -> None:
    own = {"usd_per_gpu_hour": 2.0, "source": "my own contract", "as_of": "2026-11"}
    quote = resolve(scenario(prices=own)).quote
    assert quote is not None
    assert quote.usd_per_gpu_hour == 2.0
    with pytest.raises(InputError):
        resolve(scenario(prices={"list": "no-such-list"}))


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
        ({"expert_parallel": 2, "tensor_parallel": 2}, "llama-3.1-8b has no experts to spread"),
        ({"attention_data_parallel": 16}, "16 GPUs spans nodes of 8 h100_pcie"),
    ],
)
def test_a_layout_that_model_and_node_do_not_allow_is_refused(
    layout: dict[str, int], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        resolve(scenario(hardware="h100_pcie", deployment=layout))


@pytest.mark.parametrize(
    ("model", "layout", "problem"),
    [
        ("mixtral-8x7b", {"attention_data_parallel": 16, "expert_parallel": 16}, "8 experts"),
        ("glm-4.5", {"tensor_parallel": 12}, "96 query and 8 KV heads"),  # a rank needs 2 of them
        ("llama-3.2-1b", {"pipeline_parallel": 32}, "only 16 layers for 32 stages"),
    ],
)
def test_parts_that_no_whole_number_of_gpus_can_share_are_refused(
    model: str, layout: dict[str, int], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        resolve(scenario(model=model, deployment=layout))


def test_experts_spread_over_gpus_that_a_stage_does_not_have_are_refused() -> None:
    with pytest.raises(ValueError, match="`expert_parallel` should divide it"):
        scenario(deployment={"expert_parallel": 2})


def test_a_known_pool_becomes_the_limit_of_the_engine() -> None:
    serving = resolve(scenario(deployment={"num_gpu_blocks": 500, "block_tokens": 32}))
    assert (serving.limits.kv.blocks, serving.limits.kv.block_tokens) == (500, 32)
    assert serving.memory.pool_tokens == 16_000


def test_a_drafter_takes_memory_from_the_pool() -> None:
    drafted = {
        "name": "speculative",
        "draft_tokens": 1,
        "survival": [0.7],
        "draft": {"work_share": 0.2},
    }
    bare, less = resolve(scenario()), resolve(scenario(decoding=drafted))
    assert less.memory.draft_weight_bytes == 0.2 * bare.memory.weight_bytes
    assert less.limits.kv.blocks < bare.limits.kv.blocks / 1.2

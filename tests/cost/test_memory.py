"""What fits: weights, reserve and KV pool, by hand."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.cost import MemoryPlan, plan_memory
from sim.deployment import Deployment
from sim.errors import DoesNotFitError
from sim.hardware import load_engine, load_gpu
from sim.model import list_models, load_model

GIB = 1024**3
NORMS_8B = (2 * 32 + 1) * 4096


def plan(
    model: str = "llama-3.1-8b", gpu: str = "h100_sxm", draft: float = 0.0, **layout: Any
) -> MemoryPlan:
    deployment = Deployment.model_validate(layout)
    return plan_memory(
        load_model(model), load_gpu(gpu), load_engine("generic"), deployment, draft_share=draft
    )


@pytest.mark.truth
def test_llama_8b_in_bf16_weighs_sixteen_gigabytes() -> None:
    """8,030,261,248 parameters of 2 bytes each."""
    assert plan().weight_bytes == 2 * 8_030_261_248


@pytest.mark.truth
def test_the_pool_of_llama_8b_on_an_h100_is_what_is_left_in_blocks_of_two_mebibytes() -> None:
    """16 tokens of 128 KiB: 2 MiB a block; 0.9 x 79.11 GiB - 16.06 GB - 1.5 GB."""
    left = 0.9 * 79.11 * GIB - 2 * 8_030_261_248 - 1.5e9
    found = plan()
    assert found.kv_bytes_per_token == 128 * 1024
    assert found.blocks == int(left // (2 * 1024**2))
    assert found.pool_tokens == 16 * found.blocks


def test_layers_are_quantised_but_embedding_and_head_stay_in_bf16() -> None:
    tables, layers = 2 * 128256 * 4096, 32 * 218_103_808
    assert plan(weights="fp8").weight_bytes == layers + 2 * (tables + NORMS_8B)
    assert plan(weights="bf16").weight_bytes == 2 * (layers + tables + NORMS_8B)


def test_ranks_hold_their_share_and_the_pool_grows_by_what_they_save() -> None:
    one, two = plan(), plan(tensor_parallel=2)
    # each rank holds the norms whole
    assert 2 * two.weight_bytes == one.weight_bytes + 2 * NORMS_8B
    assert 2 * two.kv_bytes_per_token == one.kv_bytes_per_token
    assert two.blocks > 2 * one.blocks  # half the weights, half the KV a token


def test_a_drafter_takes_its_share_of_weights_and_of_every_token() -> None:
    bare, drafted = plan(), plan(draft=0.25)
    assert drafted.draft_weight_bytes == 0.25 * bare.weight_bytes
    assert drafted.kv_bytes_per_token == 1.25 * bare.kv_bytes_per_token
    assert drafted.blocks < bare.blocks / 1.25


def test_a_known_pool_replaces_the_calculation() -> None:
    assert plan(num_gpu_blocks=1234).blocks == 1234


def test_what_does_not_fit_says_by_how_much_and_what_to_change() -> None:
    with pytest.raises(DoesNotFitError, match="tensor_parallel") as caught:
        plan("llama-3.1-70b")
    error = caught.value
    weights = 2 * 70_553_706_496  # 141 GB
    assert error.have_bytes == pytest.approx(0.9 * 79.11 * GIB)
    assert error.need_bytes == pytest.approx(weights + 1.5e9 + 16 * 320 * 1024)
    assert "llama-3.1-70b" in str(error)
    assert "h100_sxm" in str(error)


def test_a_model_that_leaves_no_room_for_one_block_does_not_fit_either() -> None:
    weights = 2 * 8_030_261_248
    usable = (weights + 1.5e9 + 1024**2) / (79.11 * GIB)  # half a block too little
    with pytest.raises(DoesNotFitError):
        plan(memory_fraction=usable)
    assert plan(memory_fraction=usable + 2 * 1024**2 / (79.11 * GIB)).blocks == 1


LAYOUTS = st.fixed_dictionaries(
    {
        "tensor_parallel": st.sampled_from([1, 2, 4, 8]),
        "weights": st.sampled_from(["bf16", "fp8"]),
        "kv_precision": st.sampled_from(["bf16", "fp8"]),
        "memory_fraction": st.floats(0.2, 1),
        "block_tokens": st.integers(1, 256),
    }
)


@pytest.mark.laws
@given(
    model=st.sampled_from(list_models()),
    gpu=st.sampled_from(["a100_sxm_80gb", "h100_sxm", "b200_sxm"]),
    draft=st.floats(0, 1),
    layout=LAYOUTS,
)
def test_the_parts_fill_the_usable_memory_up_to_less_than_one_block(
    model: str, gpu: str, draft: float, layout: dict[str, Any]
) -> None:
    try:
        found = plan(model, gpu, draft, **layout)
    except DoesNotFitError:
        assume(condition=False)
        raise
    parts = found.weight_bytes + found.draft_weight_bytes + found.reserve_bytes
    kept = found.kv.full + sum(part for _, part in found.kv.windows)
    block = found.kv_bytes_per_token * layout["block_tokens"] / kept
    assert parts + found.blocks * block <= found.usable_bytes * (1 + 1e-12)
    assert parts + (found.blocks + 1) * block > found.usable_bytes * (1 - 1e-12)
    assert found.usable_bytes == layout["memory_fraction"] * load_gpu(gpu).memory_bytes.value

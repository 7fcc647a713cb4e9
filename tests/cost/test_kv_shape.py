"""Blocks of layers that keep all tokens, of windows, and of states, against bytes by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost import KvShape, MemoryPlan, plan_memory
from sim.deployment import Deployment
from sim.hardware import load_engine
from sim.model import list_models
from tests.engine.counting import blocks
from tests.laws.building import SHAPES
from tests.laws.loads import gpu_of, model_of

TOKENS = st.lists(st.floats(0, 500), min_size=1, max_size=20)
SHAPE = st.builds(
    lambda given, size: KvShape(blocks=1000, block_tokens=size, **given),
    st.sampled_from(SHAPES),
    st.sampled_from([1, 4, 16, 33]),
)


@pytest.mark.laws
@given(tokens=TOKENS, shape=SHAPE)
def test_bounds_of_a_batch_enclose_the_blocks_of_its_sequences(
    tokens: list[float], shape: KvShape
) -> None:
    exact = sum(shape.blocks_for(held) for held in tokens)
    assert exact == pytest.approx(sum(blocks(held, shape) for held in tokens))
    assert exact <= shape.most_for(sum(tokens), len(tokens)) + 1e-9
    assert exact >= shape.least_for(sum(tokens), len(tokens)) - 1e-4
    share = shape.share_of(np.array([sum(tokens)]), np.array([len(tokens)]))[0]
    assert share * shape.blocks <= shape.most_for(sum(tokens), len(tokens)) + 1e-9


@pytest.mark.laws
@given(tokens=st.floats(0, 500), more=st.floats(0, 50), shape=SHAPE)
def test_more_tokens_take_no_fewer_blocks(tokens: float, more: float, shape: KvShape) -> None:
    assert shape.blocks_for(tokens + more) >= shape.blocks_for(tokens)


@pytest.mark.parametrize("given", SHAPES[:3])
def test_one_sequence_fits_into_the_tokens_that_the_pool_holds_and_not_into_more(
    given: dict[str, object],
) -> None:
    shape = KvShape(blocks=97, block_tokens=16, **given)  # type: ignore[arg-type]
    most = shape.tokens_of_one_sequence
    assert shape.blocks_for(most) <= shape.blocks < shape.blocks_for(most + 16)


def plan_of(name: str, **layout: object) -> MemoryPlan:
    deployment = Deployment.model_validate({"pipeline_parallel": 8, "weights": "int4", **layout})
    return plan_memory(model_of(name), gpu_of("b300_sxm"), load_engine("generic"), deployment)


@pytest.mark.laws
@pytest.mark.parametrize("name", list_models())
@pytest.mark.parametrize("kv", ["bf16", "fp8"])
def test_a_sequence_takes_the_bytes_of_its_keys_values_and_states_in_whole_blocks(
    name: str, kv: str
) -> None:
    """A stage holds its share of the layers: of 61 on eight stages, 8 on the longest."""
    model, plan = model_of(name), plan_of(name, kv_precision=kv)
    stage = -(-model.num_layers // 8) / model.num_layers
    width, kinds = {"bf16": 2, "fp8": 1}[kv], 1 + len(plan.kv.windows)
    per_token = width * model.kv_elements_per_token() + model.indexer_elements_per_token
    assert plan.kv_bytes_per_token == pytest.approx(stage * per_token)
    state = stage * 4 * model.state_elements_per_sequence
    assert plan.state_bytes_per_sequence == pytest.approx(state)
    weights = plan.kv.full + sum(weight for _, weight in plan.kv.windows)
    block_bytes = 16 * plan.kv_bytes_per_token / weights
    for tokens in (1, 100, 1000, 5000):
        kept = width * model.kv_elements(tokens) + tokens * model.indexer_elements_per_token
        by_hand = stage * kept + state
        taken = plan.kv.blocks_for(tokens) * block_bytes
        assert by_hand * (1 - 1e-9) <= taken <= by_hand + kinds * weights * block_bytes


@pytest.mark.parametrize("name", ["llama-3.1-70b", "gpt-oss-120b", "deepseek-v3.2"])
def test_each_group_of_data_parallel_attention_has_a_pool_of_its_own_size(name: str) -> None:
    one = plan_of(name)
    two = plan_of(name, attention_data_parallel=2, expert_parallel=1, pipeline_parallel=8)
    assert two.kv.block_tokens == one.kv.block_tokens
    assert two.kv_bytes_per_token == one.kv_bytes_per_token
    assert two.blocks >= 2 * one.blocks  # experts, where there are any, leave more room

"""GPUs share the work: what ranks, groups, stages and experts' GPUs do adds up to the whole."""

import pytest

from sim.cost import ForwardPass, Operation, PassLoad
from sim.deployment import Deployment
from sim.hardware import load_engine, load_fitted, load_gpu
from sim.model import Experts, GroupedQuery, Model, list_models
from tests.laws.loads import Shape, allowed_layouts, has_experts, model_of
from tests.laws.small_models import STACKS, small_model

pytestmark = pytest.mark.laws
WHOLE = ("latent down projection", "indexer", "router", "expert latent")
"""Beginnings of what every rank of tensor parallelism computes whole."""
SHAPE = Shape(40, 1, 1500.0, 1.0, chunks=2, chunk_tokens=700, before=100)


def cost_of(model: Model, skew: float = 0.0, **layout: int) -> ForwardPass:
    deployment = Deployment.model_validate({**layout, "expert_skew": skew})
    gpu = load_gpu("h100_sxm")
    fitted = load_fitted(gpu, "generic")
    return ForwardPass(model, gpu, fitted, load_engine("generic"), deployment)


def kernels(cost: ForwardPass, load: PassLoad) -> dict[str, list[Operation]]:
    """Return the operations without host and collectives, by name."""
    found: dict[str, list[Operation]] = {}
    for operation in cost.operations(load):
        if operation.kind == "kernel":
            name = operation.name.removeprefix("decode ").removeprefix("prefill ")
            found.setdefault(name, []).append(operation)
    return found


def flop(operations: list[Operation]) -> float:
    return sum(operation.count * operation.flop for operation in operations)


def stored(operations: list[Operation]) -> float:
    """Bytes of weights, KV and states that are read, without activations."""
    return sum(part.count * (part.bytes_moved - part.activation_bytes) for part in operations)


def kv_heads_divide(model: Model, ranks: int) -> bool:
    mixers = [mixer for mixer, _ in model.attention_groups()]
    return not any(isinstance(m, GroupedQuery) and m.kv_heads % ranks for m in mixers)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("name", list_models())
def test_tensor_parallel_ranks_do_together_what_one_gpu_does(name: str, ranks: int) -> None:
    if (ranks, 1, 1, 1) not in allowed_layouts(name):
        pytest.skip("its heads do not divide")
    model = model_of(name)
    one, many = cost_of(model), cost_of(model, tensor_parallel=ranks)
    alone, shared = kernels(one, SHAPE.on(one)), kernels(many, SHAPE.on(many))
    assert alone.keys() == shared.keys()
    for part, operations in alone.items():
        split = 1 if part.startswith(WHOLE) else ranks
        whole, together = flop(operations), split * flop(shared[part])
        if part == "qkv projection" and not kv_heads_divide(model, ranks):
            assert together > whole  # KV heads are replicated
            continue
        assert together == pytest.approx(whole, rel=1e-12), part
        latent = part.endswith("latent attention")
        if latent or (part.endswith("attention") and not kv_heads_divide(model, ranks)):
            least = stored(operations) / ranks * (1 - 1e-12)
            assert least <= stored(shared[part]) <= stored(operations), part
        else:
            together = split * stored(shared[part])
            assert together == pytest.approx(stored(operations), rel=1e-12), part


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("split", ["attention_data_parallel", "pipeline_parallel"])
@pytest.mark.parametrize("name", STACKS)
def test_a_lane_is_a_machine_of_its_own_for_its_part_of_the_sequences(
    name: str, split: str, lanes: int
) -> None:
    """Groups and microbatches share sequences evenly; only experts see all tokens."""
    model = small_model(name)
    one, many = cost_of(model), cost_of(model, **{split: lanes})
    more = SHAPE._replace(sequences=lanes * SHAPE.sequences, chunks=lanes * SHAPE.chunks)
    alone, shared = kernels(one, SHAPE.on(one)), kernels(many, more.on(many))
    assert alone.keys() == shared.keys()
    for part, operations in alone.items():
        if part == "routed experts" and split == "attention_data_parallel":
            # each GPU holds its share of every expert, and does its share of all the tokens
            assert flop(shared[part]) == pytest.approx(flop(operations), rel=1e-12)
            assert stored(shared[part]) < stored(operations)
            continue
        for mine, theirs in zip(operations, shared[part], strict=True):
            assert mine.count == theirs.count
            assert mine.seconds == pytest.approx(theirs.seconds, rel=1e-12), part
            assert mine.flop == pytest.approx(theirs.flop, rel=1e-12), part
            assert mine.bytes_moved == pytest.approx(theirs.bytes_moved, rel=1e-12), part


@pytest.mark.parametrize("split", ["attention_data_parallel", "pipeline_parallel"])
def test_one_sequence_alone_gains_nothing_from_lanes(split: str) -> None:
    model = model_of("llama-3.1-8b")
    one, many = cost_of(model), cost_of(model, **{split: 2})
    lonely = Shape(1, 1, 5000.0, 1.0)
    alone, shared = kernels(one, lonely.on(one)), kernels(many, lonely.on(many))
    assert alone == shared


EXPERT_MODELS = [name for name in list_models() if has_experts(model_of(name))]


@pytest.mark.parametrize("gpus", [2, 8])
@pytest.mark.parametrize("name", EXPERT_MODELS)
def test_spread_experts_read_in_the_mean_what_split_ones_do_and_the_busiest_rank_more(
    name: str, gpus: int
) -> None:
    model = model_of(name)
    groups = {"attention_data_parallel": gpus}
    split, spread = cost_of(model, **groups), cost_of(model, **groups, expert_parallel=gpus)
    skewed = cost_of(model, 0.7, **groups, expert_parallel=gpus)
    for sequences in (gpus, 64, 8192):
        shape = Shape(sequences, 1, 1000.0, 1.0)
        costs = (split, spread, skewed)
        parts = [kernels(cost, shape.on(cost))["routed experts"] for cost in costs]
        evenly, busiest, popular = map(flop, parts)
        weights, most, _ = map(stored, parts)
        assert evenly * (1 - 1e-12) <= busiest <= popular * (1 + 1e-12)
        assert busiest <= gpus * evenly * (1 + 1e-12)
        assert weights <= most * (1 + 1e-9)
        if sequences == 8192:  # all experts are hit everywhere, and chance evens out
            assert busiest == pytest.approx(evenly, rel=0.1)
            assert most == pytest.approx(weights, rel=1e-3)


@pytest.mark.parametrize("name", EXPERT_MODELS)
def test_flop_of_split_experts_are_those_of_the_choices_of_all_tokens(name: str) -> None:
    model, tokens = model_of(name), 333
    pairs = [(group.layer.mlp, group.count) for group in model.groups]
    routed = [(mlp, count) for mlp, count in pairs if isinstance(mlp, Experts)]
    by_hand = sum(
        count * 2 * tokens * mlp.active * mlp.expert_elements(model.hidden_size)
        for mlp, count in routed
    )
    for ranks in (1, 2):
        cost = cost_of(model, tensor_parallel=ranks)
        shape = Shape(tokens, 1, 10.0, 0.0)
        found = kernels(cost, shape.on(cost))["routed experts"]
        assert ranks * flop(found) == pytest.approx(by_hand, rel=1e-12)

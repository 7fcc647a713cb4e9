"""The weights that the cost model reads are those of the published parameter counts."""

from typing import get_args

import pytest

from sim.cost.layers import Layers, layers_of
from sim.cost.weights import weight_bytes_per_gpu
from sim.deployment import Deployment
from sim.hardware import load_gpu
from sim.model import DenseMlp, Experts, GroupedQuery, Latent, Model, list_models
from sim.precision import BYTES_PER_WEIGHT, Precision
from tests.laws.loads import WEIGHTS, allowed_layouts, model_of

EVERY_MODEL = pytest.mark.parametrize("name", list_models())
H100 = load_gpu("h100_sxm")
GIB = 2**30


def layers(model: Model, **deployment: object) -> Layers:
    return layers_of(model, H100, Deployment.model_validate(deployment))


def matrices(model: Model) -> int:
    """Weights of all matrices of the layers, from the facts of the model."""
    hidden, total = model.hidden_size, 0
    for group in model.groups:
        mixer, mlp = group.layer.mixer, group.layer.mlp
        one = mixer.matrix_elements(hidden) if mixer else 0
        if isinstance(mlp, DenseMlp):
            one += mlp.matrix_elements(hidden)
        elif isinstance(mlp, Experts):
            one += hidden * mlp.experts + mlp.shared_elements(hidden)
            one += mlp.latent_elements(hidden) + mlp.experts * mlp.expert_elements(hidden)
        total += group.count * one
    return total


@EVERY_MODEL
def test_products_have_exactly_the_matrices_of_the_model(name: str) -> None:
    model = model_of(name)
    parts = layers(model)
    counted = sum(count * gemm.weight_elements for gemm, count in parts.gemms)
    for mlp, count in parts.experts:
        counted += count * mlp.experts * mlp.expert_elements(model.hidden_size)
    assert counted == matrices(model)
    assert parts.head.weight_elements == model.head_elements


@EVERY_MODEL
def test_one_gpu_holds_two_bytes_for_every_published_parameter(name: str) -> None:
    model = model_of(name)
    plain = all(model.weights.of(part) != "mxfp4" for part in ("experts", "attention"))
    if not plain or model.weights.of("experts") == "int4":
        pytest.skip("its bf16 is that of the checkpoint, which keeps its experts smaller")
    held = weight_bytes_per_gpu(model, H100, Deployment(weights="bf16"))
    assert held == 2 * model.total_parameters


@pytest.mark.truth
@pytest.mark.parametrize(
    ("name", "size_bytes", "within"),
    [
        ("gpt-oss-120b", 60.8 * GIB, 0.001),  # model card, arXiv:2508.10925, table 1
        ("gpt-oss-20b", 12.8 * GIB, 0.002),  # the same
        ("kimi-k2", 1.03e12, 0.002),  # files on Hugging Face
        ("kimi-k2.5", 594e9 + 0.9e9, 0.002),  # as Kimi-K2-Thinking, and a vision tower in bf16
    ],
)
def test_a_checkpoint_takes_the_bytes_that_its_publisher_states(
    name: str, size_bytes: float, within: float
) -> None:
    held = weight_bytes_per_gpu(model_of(name), H100, Deployment(weights="checkpoint"))
    assert held == pytest.approx(size_bytes, rel=within)


@EVERY_MODEL
def test_a_format_takes_its_bytes_for_each_matrix_and_two_for_all_else(name: str) -> None:
    model = model_of(name)
    inside = matrices(model)
    routers = sum(
        group.count * group.layer.mlp.experts * model.hidden_size
        for group in model.groups
        if isinstance(group.layer.mlp, Experts)
    )
    own = {model.weights.of(part) for part in ("attention", "experts", "dense_mlp")}
    for weights in get_args(Precision):
        if weights in own:
            continue  # means the checkpoint, part by part
        held = weight_bytes_per_gpu(model, H100, Deployment(weights=weights))
        rest = model.total_parameters - inside + routers
        by_hand = BYTES_PER_WEIGHT[weights] * (inside - routers) + 2 * rest
        assert held == pytest.approx(by_hand, rel=1e-12), weights


def replicated(model: Model, ranks: int) -> float:
    """Weights that every rank of tensor parallelism holds whole, beyond its share."""
    hidden = model.hidden_size
    total: float = model.final_norm_elements + model.other_elements + model.head_bias_elements
    for group in model.groups:
        layer, mixer, mlp = group.layer, group.layer.mixer, group.layer.mlp
        one = float(layer.norm_elements + (mixer.other_elements if mixer else 0))
        if isinstance(mixer, Latent):
            one += mixer.down_elements(hidden) + mixer.indexer_elements(hidden)
            one += hidden * (mixer.query_rank or 0)
        elif isinstance(mixer, GroupedQuery):
            copies = max(1, ranks / mixer.kv_heads) - 1  # KV heads on more than one rank
            one += copies * mixer.key_value_elements(hidden) / (ranks - 1)
        if isinstance(mlp, DenseMlp):
            one += mlp.bias_elements
        elif isinstance(mlp, Experts):
            one += mlp.router_elements + hidden * mlp.shared_gate + mlp.latent_elements(hidden)
        total += group.count * one
    return total


@EVERY_MODEL
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ranks_hold_the_model_once_and_small_parts_as_often_as_there_are_ranks(
    name: str, ranks: int
) -> None:
    if (ranks, 1, 1, 1) not in allowed_layouts(name):
        pytest.skip("its heads do not divide")
    model = model_of(name)
    one = weight_bytes_per_gpu(model, H100, Deployment())
    each = weight_bytes_per_gpu(model, H100, Deployment(tensor_parallel=ranks))
    again = (ranks - 1) * 2 * replicated(model, ranks)
    assert ranks * each == pytest.approx(one + again, rel=1e-9)
    assert ranks * each < 1.35 * one


@EVERY_MODEL
def test_all_gpus_of_a_replica_hold_the_model_once_at_least(name: str) -> None:
    model = model_of(name)
    for weights in WEIGHTS:
        one = weight_bytes_per_gpu(model, H100, Deployment.model_validate({"weights": weights}))
        for tensor, pipeline, expert, data in allowed_layouts(name):
            layout = {
                "tensor_parallel": tensor,
                "pipeline_parallel": pipeline,
                "expert_parallel": expert,
                "attention_data_parallel": data,
                "weights": weights,
            }
            deployment = Deployment.model_validate(layout)
            each = weight_bytes_per_gpu(model, H100, deployment)
            gpus = deployment.gpus_per_replica
            assert each <= one * (1 + 1e-12)
            assert gpus * each >= one * (1 - 1e-12), layout

"""How weights are stored, how they are multiplied, and what both mean for time and memory."""

import pytest

from sim.cost import ForwardPass, even_load, even_prompt, plan_memory
from sim.deployment import Deployment
from sim.hardware import list_gpus, load_engine
from sim.model import list_models
from sim.precision import BYTES_PER_WEIGHT, PRECISIONS
from tests.laws.loads import Layout, gpu_of, machine, model_of
from tests.laws.machines import lossless

ONE: Layout = (1, 1, 1, 1)


def on_peaks(model: str, gpu: str, weights: str) -> ForwardPass:
    return lossless(machine(model, gpu, ONE, weights=weights))


def prompt_s(cost: ForwardPass) -> float:
    return cost.pass_s(even_prompt(cost, 8192)) - cost.host_s(1)


def decode_s(cost: ForwardPass) -> float:
    return cost.pass_s(even_load(cost, 1, 1.0)) - cost.host_s(1)


def formats_of(cost: ForwardPass) -> dict[str, tuple[str, str]]:
    """Stored and computed format of every product of the layers."""
    parts: dict[str, tuple[str, str]]
    parts = {g.name: (g.format.stored, g.format.computed) for g, _ in cost.layers.gemms}
    if cost.layers.experts:
        fmt = cost.layers.expert_format
        parts["routed experts"] = fmt.stored, fmt.computed
    return parts


@pytest.mark.truth
@pytest.mark.parametrize(
    ("gpu", "weights", "computed"),
    [
        ("a100_sxm_80gb", "fp8", "bf16"),  # Ampere has no FP8 units: Marlin, W8A16
        ("a100_sxm_80gb", "fp8_block", "bf16"),
        ("a100_sxm_80gb", "int8", "int8"),
        ("h100_sxm", "fp8", "fp8"),
        ("h100_sxm", "fp8_block", "fp8_block"),
        ("h100_sxm", "nvfp4", "bf16"),
        ("h100_sxm", "mxfp4", "bf16"),
        ("b200_sxm", "nvfp4", "nvfp4"),
        ("b200_sxm", "mxfp4", "mxfp4"),
        ("mi300x", "mxfp4", "bf16"),
        ("mi355x", "mxfp4", "mxfp4"),
        ("mi355x", "nvfp4", "bf16"),  # CDNA 4 knows the OCP scaling only
        ("b200_sxm", "int4", "bf16"),
        ("h100_sxm", "int4", "bf16"),
        ("t4", "fp8", "bf16"),
    ],
)
def test_a_gpu_multiplies_in_its_own_units_or_in_sixteen_bits(
    gpu: str, weights: str, computed: str
) -> None:
    cost = machine("llama-3.1-8b", gpu, ONE, weights=weights)
    assert set(formats_of(cost).values()) == {(weights, computed)}
    assert cost.compute_precision == computed
    assert cost.weight_only == ((weights,) if computed == "bf16" else ())
    assert cost.layers.head.format.stored == "bf16"


@pytest.mark.truth
@pytest.mark.parametrize(
    ("gpu", "weights", "faster"),
    [
        ("a100_sxm_80gb", "fp8", 1.0),
        ("h100_sxm", "fp8", 2.0),
        ("h100_sxm", "int4", 1.0),
        ("b200_sxm", "nvfp4", 4.0),
        ("h100_sxm", "nvfp4", 1.0),
    ],
)
def test_on_peaks_a_prompt_is_as_much_faster_as_the_units_and_a_token_as_the_bytes(
    gpu: str, weights: str, faster: float
) -> None:
    model = "llama-3.1-70b"
    plain, small = on_peaks(model, gpu, "bf16"), on_peaks(model, gpu, weights)
    seconds = [
        sum(
            part.count * part.compute_s
            for part in cost.operations(even_prompt(cost, 8192))
            if "projection" in part.name
        )
        for cost in (plain, small)
    ]
    assert seconds[0] / seconds[1] == pytest.approx(faster, rel=0.02)  # datasheets round
    # attention and small kernels stay in sixteen bits
    assert 0.7 * faster < prompt_s(plain) / prompt_s(small) < 1.03 * faster
    # 68.5e9 weights in the layers become smaller, the head of 1.05e9 does not
    kept = (BYTES_PER_WEIGHT[weights] * 68.5 + 2 * 1.05) / (2 * (68.5 + 1.05))  # type: ignore[index]
    assert decode_s(small) / decode_s(plain) == pytest.approx(kept, rel=0.005)


def test_a_format_that_is_multiplied_may_be_asked_for_where_the_gpu_has_it() -> None:
    """W4A8: weights in four bits, products in FP8."""
    asked = {"weights": "int4", "compute": "fp8"}
    for gpu, computed in (("h100_sxm", "fp8"), ("a100_sxm_80gb", "bf16")):
        plain = machine("llama-3.1-8b", gpu, ONE)
        deployment = Deployment.model_validate(asked)
        cost = ForwardPass(plain.model, plain.gpu, plain.fitted, plain.engine, deployment)
        assert set(formats_of(cost).values()) == {("int4", computed)}


@pytest.mark.truth
@pytest.mark.parametrize("weights", ["mxfp4", "checkpoint"])
def test_gpt_oss_keeps_its_attention_router_and_head_in_sixteen_bits(weights: str) -> None:
    cost = machine("gpt-oss-120b", "h100_sxm", ONE, weights=weights)
    parts = formats_of(cost)
    assert parts.pop("routed experts") == ("mxfp4", "bf16")
    assert set(parts.values()) == {("bf16", "bf16")}
    assert {"qkv projection", "output projection", "router"} == parts.keys()
    assert cost.weight_only == ("mxfp4",)


@pytest.mark.truth
def test_deepseek_v3_is_published_in_blocks_of_fp8_but_for_router_and_head() -> None:
    cost = machine("deepseek-v3", "h100_sxm", ONE, weights="checkpoint")
    parts = formats_of(cost)
    assert parts.pop("router") == ("bf16", "bf16")
    assert set(parts.values()) == {("fp8_block", "fp8_block")}


@pytest.mark.parametrize("gpu", list_gpus())
def test_every_format_can_be_served_on_every_gpu(gpu: str) -> None:
    for weights in PRECISIONS:
        cost = machine("llama-3.1-8b", gpu, ONE, weights=weights)
        assert cost.pass_s(even_load(cost, 8, 500.0)) > 0
        ((stored, computed),) = set(formats_of(cost).values())
        assert stored == weights
        assert gpu_of(gpu).peak_flop_per_s(computed)  # type: ignore[arg-type]


def test_fewer_bytes_per_weight_never_make_a_token_slower_on_peaks() -> None:
    by_bytes = sorted(PRECISIONS, key=lambda precision: BYTES_PER_WEIGHT[precision])
    times = [decode_s(on_peaks("llama-3.1-8b", "b200_sxm", weights)) for weights in by_bytes]
    assert times == sorted(times)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt-oss-120b", "deepseek-v3"])
def test_a_measured_checkpoint_size_replaces_the_count_in_memory_and_in_no_time(name: str) -> None:
    model, gpu, engine = model_of(name), gpu_of("b300_sxm"), load_engine("generic")
    layout = {"tensor_parallel": 8, "weights": "checkpoint"}
    counted = Deployment.model_validate(layout)
    measured = Deployment.model_validate({**layout, "checkpoint_gb": 123.4})
    plan = plan_memory(model, gpu, engine, measured)
    assert plan.weight_bytes == pytest.approx(123.4e9 / 8)
    assert plan.weight_bytes != plan_memory(model, gpu, engine, counted).weight_bytes
    fitted = machine(name, "b300_sxm", ONE).fitted
    costs = [ForwardPass(model, gpu, fitted, engine, each) for each in (counted, measured)]
    assert len({cost.pass_s(even_load(cost, 8, 500.0)) for cost in costs}) == 1


@pytest.mark.parametrize("name", list_models())
def test_the_kv_cache_in_one_byte_takes_half_the_bytes_of_keys_and_values(name: str) -> None:
    wide = machine(name, "h100_sxm", ONE, kv="bf16").layers.attention
    narrow = machine(name, "h100_sxm", ONE, kv="fp8").layers.attention
    for one, other in zip(wide, narrow, strict=True):
        # an indexer's keys have one byte whatever the cache has
        factor = 1 if one.name == "indexer" else 2
        assert one.token_bytes == factor * other.token_bytes

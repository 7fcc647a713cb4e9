"""Kernels counted by hand from the layers of published models, and what their launches cost."""

from dataclasses import replace

import pytest

from sim.cost import ForwardPass, PassLoad
from sim.cost.layers import small_kernels
from sim.deployment import Deployment
from sim.hardware import load_engine, load_fitted, load_gpu
from sim.model import load_model
from sim.model.architecture import Layer
from sim.units import US_PER_S


def priced(
    model: str = "llama-3.1-8b", *, ranks: int = 1, weights: str = "checkpoint", **engine: object
) -> ForwardPass:
    gpu = load_gpu("h200_sxm")
    changed = load_engine("generic").model_copy(update=engine)
    deployment = Deployment.model_validate({"tensor_parallel": ranks, "weights": weights})
    return ForwardPass(load_model(model), gpu, load_fitted(gpu, "vllm"), changed, deployment)


def kernels(model: str) -> list[int]:
    return [small_kernels(group.layer) for group in load_model(model).groups]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("model", "counts"),
    [
        ("llama-3.1-8b", {5}),  # 2 norms, rotary, write, activation
        ("qwen3-32b", {7}),  # and norms of queries and of keys
        ("gpt-oss-120b", {4}),  # the activation is inside the experts
        # norms of latent and query, parts put together; shared experts' activation and sum
        ("deepseek-v3", {8, 9}),
    ],
)
def test_small_kernels_of_a_layer_are_those_of_its_architecture(
    model: str, counts: set[int]
) -> None:
    assert set(kernels(model)) == counts


def test_a_layer_with_one_block_has_one_norm() -> None:
    (group,) = load_model("llama-3.1-8b").groups
    mlp_alone = replace(group.layer, mixer=None)
    assert isinstance(mlp_alone, Layer)
    assert small_kernels(mlp_alone) == 2  # its norm and the activation


def test_the_time_of_small_kernels_goes_with_their_number() -> None:
    """An engine's time per layer is of five; 61 layers of DeepSeek-V3 have 3 x 8 + 58 x 9."""
    cost = priced("deepseek-v3", ranks=8)
    fitted = cost.fitted.model_copy(update={"layer_overhead_s": 10e-6})
    cost = ForwardPass(cost.model, cost.gpu, fitted, cost.engine, cost.deployment)
    found = cost.operations(PassLoad(1, 1, 1.0, 1.0, 1.0))
    small_s = sum(one.total_s for one in found if one.name == "small kernels")
    assert small_s == pytest.approx((3 * 8 + 58 * 9) / 5 * 10e-6)


@pytest.mark.truth
@pytest.mark.parametrize(
    ("model", "ranks", "counts"),
    [
        # 32 layers of 4 products and 5 small kernels, and the LM head; 32 of attention
        ("llama-3.1-8b", 1, (32 * 9 + 1, 32, 32)),
        # and 65 sums over the ranks: two a layer, one of the embedding
        ("llama-3.1-8b", 2, (32 * 9 + 1 + 65, 32, 32)),
        # products in blocks of fp8 quantise first: 5 of 61 layers, 2 of 3 dense ones, 2 shared of
        # 58, and 58 routers that do not; small kernels; 8 of experts; 123 sums; LM head
        (
            "deepseek-v3",
            8,
            (
                2 * (5 * 61 + 2 * 3 + 2 * 58) + 58 + (3 * 8 + 58 * 9) + 58 * 8 + 123 + 1,
                61,
                2 * 61,
            ),
        ),
    ],
)
def test_kernels_of_a_pass_by_hand(model: str, ranks: int, counts: tuple[int, int, int]) -> None:
    found = priced(model, ranks=ranks).launches
    assert (found.always, found.decode, found.prompts) == counts
    assert found.count(3, 0) == counts[0] + counts[1]
    assert found.count(0, 2) == counts[0] + counts[2]
    assert found.count(3, 2) == sum(counts)


def test_eight_bits_take_a_kernel_more_where_the_engine_does_not_fuse_it() -> None:
    fused = priced(weights="fp8").launches
    own = priced(weights="fp8", quantise_s_per_product=7e-6).launches
    assert own.always == fused.always + 4 * 32


DECODE = PassLoad(4, 4, 4.0, 4000.0, 4000.0)
MIXED = PassLoad(4, 4, 4.0, 4000.0, 4000.0, 1, 100, 100.0, 5000.0)
LAUNCH_S = 100e-6
KERNELS = 32 * 9 + 1 + 32 + 32


def test_a_pass_with_prompts_takes_at_least_the_launches_of_its_kernels() -> None:
    alone, cost = priced(), priced(host_s_per_launch=LAUNCH_S)
    assert cost.pass_s(DECODE) == alone.pass_s(DECODE)  # from a graph
    launches_s = KERNELS * LAUNCH_S
    assert alone.pass_s(MIXED) < launches_s
    assert cost.pass_s(MIXED) == pytest.approx(launches_s)
    little = priced(host_s_per_launch=alone.pass_s(MIXED) / KERNELS / 2)
    assert little.pass_s(MIXED) == alone.pass_s(MIXED)  # hidden behind the GPU


@pytest.mark.parametrize("together", [False, True])
def test_launches_go_beside_the_gpu_and_not_beside_the_other_work_of_the_host(
    together: bool,
) -> None:
    host_s = 3e-3
    cost = priced(host_s_per_launch=LAUNCH_S, host_s_per_pass=host_s, asynchronous=together)
    assert cost.pass_s(MIXED) == pytest.approx(KERNELS * LAUNCH_S + host_s)
    found = {one.name: one.total_s for one in cost.operations(MIXED)}
    assert sum(found.values()) == pytest.approx(cost.pass_s(MIXED))
    assert found["wait for launches"] > 0.0
    assert "wait for launches" not in {one.name for one in cost.operations(DECODE)}


def test_graphs_hold_passes_up_to_their_largest_size_prompts_or_not() -> None:
    graphs = (1, 2, 4, 8, 128)
    alone = priced(graph_batch_sizes=graphs)
    cost = priced(graph_batch_sizes=graphs, host_s_per_launch=LAUNCH_S)
    assert cost.pass_s(MIXED) == alone.pass_s(MIXED)
    wide = PassLoad(129, 129, 129.0, 129_000.0, 129_000.0)
    assert cost.pass_s(wide) == pytest.approx((KERNELS - 32) * LAUNCH_S)


def test_in_eager_mode_a_pass_of_one_token_pays_its_launches_too() -> None:
    one = PassLoad(1, 1, 1.0, 1000.0, 1000.0)
    eager = priced(graph_batch_sizes=(0,), host_s_per_launch=LAUNCH_S)
    assert eager.pass_s(one) == pytest.approx((KERNELS - 32) * LAUNCH_S)
    held = priced(graph_batch_sizes=(1,), host_s_per_launch=LAUNCH_S)
    assert held.pass_s(one) < eager.pass_s(one) / 2


def test_a_line_of_passes_leaves_the_launches_where_attention_overtakes_them() -> None:
    load = PassLoad(2, 600, 2.0, 4000.0, 4000.0)
    alone = priced(graph_batch_sizes=(512,))
    growths = ((4000.0, 4000.0, 2.0, 600.0),)
    first_s, slope_s, _ = alone.line(*load[:3], growths)
    each_s = (first_s + 10.5 * slope_s) / (KERNELS - 32)
    cost = priced(graph_batch_sizes=(512,), host_s_per_launch=each_s)
    flat_s, rise_s, passes = cost.line(*load[:3], growths)
    assert flat_s == pytest.approx(each_s * (KERNELS - 32))
    assert (rise_s, passes) == (0.0, 11)
    assert cost.pass_s(load) == flat_s


def test_no_engine_takes_a_microsecond_for_a_second() -> None:
    for name in ("trtllm", "vllm", "generic"):
        assert 0.0 <= load_engine(name).host_s_per_launch * US_PER_S <= 150.0


@pytest.mark.parametrize("together", [False, True])
def test_launches_that_the_gpu_hides_are_no_line_of_the_pass(*, together: bool) -> None:
    alone = priced()
    for share in (0.1, 0.5, 0.9, 0.999):
        each_s = share * alone.pass_s(MIXED) / KERNELS
        cost = priced(host_s_per_launch=each_s, asynchronous=together)
        gpu_s = sum(one.total_s for one in cost.operations(MIXED) if one.kind != "host")
        names = {one.name for one in cost.operations(MIXED)}
        longer = cost.host.sides(5, 104, 1)[0] > gpu_s
        assert ("wait for launches" in names) == longer

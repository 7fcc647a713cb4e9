"""Counts by hand, from the published shapes of Llama 3.1."""

from dataclasses import replace

import pytest

from sim.cost.attention import Attention, attention_kinds, decode_rates
from sim.cost.formats import StoredAs
from sim.cost.layers import Layers, layers_of
from sim.cost.layout import Layout
from sim.cost.plain import Plain
from sim.cost.work import Gemm
from sim.deployment import Deployment
from sim.hardware import load_fitted, load_gpu
from sim.model import Model, load_model


@pytest.fixture(scope="module")
def llama_8b() -> Model:
    return load_model("llama-3.1-8b")


def layers(model: Model, ranks: int = 1) -> Layers:
    return layers_of(model, load_gpu("h100_sxm"), Deployment(tensor_parallel=ranks))


def only_attention(model: Model, ranks: int = 1) -> Attention:
    (kind,) = attention_kinds(model, Layout.of(Deployment(tensor_parallel=ranks)), "bf16")
    return kind


@pytest.mark.truth
def test_a_token_costs_two_flop_for_each_weight_that_it_meets(llama_8b: Model) -> None:
    """8,030,261,248 parameters less the embeddings, which are only looked up, and the norms."""
    parts = layers(llama_8b)
    flop = sum(count * gemm.work(1.0).flop for gemm, count in parts.gemms)
    flop += parts.head.work(1.0).flop
    embeddings, norms = 128256 * 4096, (2 * 32 + 1) * 4096
    assert flop == 2 * (8_030_261_248 - embeddings - norms)


@pytest.mark.truth
def test_the_four_products_of_a_layer_have_the_shapes_of_the_paper(llama_8b: Model) -> None:
    found = layers(llama_8b).gemms
    assert {gemm.name: (gemm.inner, gemm.outer) for gemm, _ in found} == {
        "qkv projection": (4096, (32 + 2 * 8) * 128),
        "output projection": (4096, 4096),
        "gate and up projection": (4096, 2 * 14336),
        "down projection": (14336, 4096),
    }
    assert [count for _, count in found] == [32] * 4


def test_a_product_reads_its_weights_once_however_many_tokens_share_them() -> None:
    gemm = Gemm("square", 4096, 4096, StoredAs("int8", "bf16"))  # one byte a weight
    for tokens in (1, 64):
        work = gemm.work(float(tokens))
        assert work.weight_bytes == 4096 * 4096
        assert work.activation_bytes == tokens * (4096 * 2 + 4096 * 2)
        assert work.bytes_moved == work.weight_bytes + work.activation_bytes
        assert work.flop == 2 * tokens * 4096 * 4096


@pytest.mark.parametrize("name", ["llama-3.1-8b", "llama-3.1-70b", "qwen3-32b"])
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ranks_share_the_weights_without_rest(name: str, ranks: int) -> None:
    model = load_model(name)
    one, many = layers(model), layers(model, ranks)
    alone = sum(count * gemm.weight_elements for gemm, count in one.gemms)
    shared = sum(count * gemm.weight_elements for gemm, count in many.gemms)
    norms = sum(group.count * group.layer.norm_elements for group in model.groups)
    inside = sum(
        group.count * group.layer.mixer.other_elements
        for group in model.groups
        if group.layer.mixer
    )
    tables = model.embedding_elements + model.head_elements + model.final_norm_elements
    assert ranks * shared == alone == model.total_parameters - norms - inside - tables
    assert ranks * many.head.weight_elements == model.head_elements


def test_kv_heads_are_replicated_where_ranks_outnumber_them(llama_8b: Model) -> None:
    eight, sixteen = Layout(8, 1, 1, 1), Layout(16, 1, 1, 1)
    assert eight.kv_heads(8) == 1
    assert sixteen.kv_heads(8) == 1
    assert sixteen.heads(32) == 2
    halved = only_attention(llama_8b, 8)
    assert only_attention(llama_8b, 16).token_bytes == halved.token_bytes == 2 * 128 * 2


@pytest.mark.truth
@pytest.mark.parametrize(("name", "kib"), [("llama-3.1-8b", 128), ("llama-3.1-70b", 320)])
def test_a_token_of_kv_in_bf16_takes_the_kibibytes_that_everybody_quotes(
    name: str, kib: int
) -> None:
    kind = only_attention(load_model(name))
    assert kind.count * kind.token_bytes == kib * 1024
    assert kind.reach is None


def test_attention_multiplies_each_pair_twice_in_every_head(llama_8b: Model) -> None:
    """Query times key, weight times value: 2 FLOP x 128 x 32 heads each."""
    kind = only_attention(llama_8b)
    assert kind.decode_pair_flop == kind.prefill_pair_flop == 2 * 2 * 128 * 32
    assert only_attention(llama_8b, 4).decode_pair_flop == 2 * 2 * 128 * 8


def test_small_kernels_move_the_tensors_between_the_products(llama_8b: Model) -> None:
    """Two residual norms (2 in, 2 out each) and the gated activation (2 in, 1 out), in bf16."""
    gpu, parts = load_gpu("h100_sxm"), layers(llama_8b)
    plain = Plain(llama_8b, gpu, load_fitted(gpu, "generic"), Layout(1, 1, 1, 1), parts)
    (small,) = [timed for timed in plain.timed(3.0) if timed.name == "small kernels"]
    assert small.bytes_moved == 3 * 2 * (8 * 4096 + 3 * 14336)
    assert small.count == 32


def test_hyper_connections_move_their_streams_around_each_block(llama_8b: Model) -> None:
    """Coefficients and input read 4 streams each and write 1 tensor; the merge reads 4 and the
    output, and writes 4: 18 tensors a block, 2 blocks a layer."""
    gpu, parts = load_gpu("h100_sxm"), layers(llama_8b)
    wide = replace(llama_8b, residual_streams=4)
    plain = Plain(wide, gpu, load_fitted(gpu, "generic"), Layout(1, 1, 1, 1), parts)
    (small,) = [timed for timed in plain.timed(3.0) if timed.name == "small kernels"]
    assert small.bytes_moved == 3 * 2 * (2 * 18 * 4096 + 3 * 14336)


def test_a_norm_more_in_a_layer_is_a_kernel_more(llama_8b: Model) -> None:
    """Two norms, rotary embedding, cache write and activation are five; two norms more, seven."""
    gpu, groups = load_gpu("h100_sxm"), []
    for group in llama_8b.groups:
        layer = replace(group.layer, norm_elements=4 * 4096)
        groups.append(replace(group, layer=layer))
    normed = replace(llama_8b, groups=tuple(groups))
    fitted = load_fitted(gpu, "generic")
    times = []
    for model in (llama_8b, normed):
        plain = Plain(model, gpu, fitted, Layout(1, 1, 1, 1), layers(model))
        (small,) = [timed for timed in plain.timed(1.0) if timed.name == "small kernels"]
        times.append(float(small.seconds))
    assert times[1] == pytest.approx(times[0] * 7 / 5)


@pytest.mark.parametrize(("name", "times"), [("deepseek-v3.2", 2), ("deepseek-v3", 1)])
def test_a_position_reads_its_own_tokens_only_where_an_indexer_chooses_them(
    name: str, times: int
) -> None:
    """Two positions of a sequence read 2,048 chosen tokens each, or one cache for both."""
    gpu, layout = load_gpu("b200_sxm"), Layout.of(Deployment(tensor_parallel=8))
    kind = attention_kinds(load_model(name), layout, "fp8")[0]
    rates = decode_rates(kind, gpu, load_fitted(gpu, "generic"), "fp8")
    one = rates.seconds(2048.0, 2048.0) - rates.fixed_s
    two = rates.seconds(2048.0, 2 * 2048.0) - rates.fixed_s
    assert two == pytest.approx(times * one)
    operation = rates.operation(2048.0, 2 * 2048.0, "decode")
    assert operation.bytes_moved == kind.token_bytes * 2048 * times

"""Counts by hand, from the published shapes of Llama 3.1."""

import pytest

from sim.cost.work import (
    attention_flop,
    head_gemm,
    kv_read_bytes,
    layer_gemms,
    rank_shape,
    small_kernel_bytes,
)
from sim.model import Model, load_model


@pytest.fixture(scope="module")
def llama_8b() -> Model:
    return load_model("llama-3.1-8b")


@pytest.mark.truth
def test_a_token_costs_two_flop_for_each_weight_that_it_meets(llama_8b: Model) -> None:
    """8,030,261,248 parameters less the embeddings, which are only looked up, and the norms."""
    layer = sum(gemm.work(1.0).flop for gemm in layer_gemms(llama_8b, 1, 2.0, 2.0))
    flop = 32 * layer + head_gemm(llama_8b, 1).work(1.0).flop
    embeddings, norms = 128256 * 4096, (2 * 32 + 1) * 4096
    assert flop == 2 * (8_030_261_248 - embeddings - norms)


@pytest.mark.truth
def test_the_four_products_of_a_layer_have_the_shapes_of_the_paper(llama_8b: Model) -> None:
    shapes = {gemm.name: (gemm.inner, gemm.outer) for gemm in layer_gemms(llama_8b, 1, 2.0, 2.0)}
    assert shapes == {
        "qkv projection": (4096, (32 + 2 * 8) * 128),
        "output projection": (4096, 4096),
        "gate and up projection": (4096, 2 * 14336),
        "down projection": (14336, 4096),
    }


def test_a_product_reads_its_weights_once_however_many_tokens_share_them(llama_8b: Model) -> None:
    gemm = layer_gemms(llama_8b, 1, 1.0, 2.0)[1]  # 4096 x 4096, one byte a weight
    for tokens in (1, 64):
        work = gemm.work(tokens)
        assert work.weight_bytes == 4096 * 4096
        assert work.activation_bytes == tokens * (4096 * 2 + 4096 * 2)
        assert work.bytes_moved == work.weight_bytes + work.activation_bytes
        assert work.flop == 2 * tokens * 4096 * 4096


@pytest.mark.parametrize("name", ["llama-3.1-8b", "llama-3.1-70b", "qwen3-32b"])
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ranks_share_the_weights_without_rest(name: str, ranks: int) -> None:
    model = load_model(name)
    alone = sum(gemm.weight_elements for gemm in layer_gemms(model, 1, 2.0, 2.0))
    shared = sum(gemm.weight_elements for gemm in layer_gemms(model, ranks, 2.0, 2.0))
    assert ranks * shared == alone == model.layer_weight_elements
    assert ranks * head_gemm(model, ranks).weight_elements == model.head_elements


def test_kv_heads_are_replicated_where_ranks_outnumber_them(llama_8b: Model) -> None:
    assert rank_shape(llama_8b, 8).kv_heads == 1
    assert rank_shape(llama_8b, 16).kv_heads == 1
    assert rank_shape(llama_8b, 16).heads == 2


@pytest.mark.truth
@pytest.mark.parametrize(("name", "kib"), [("llama-3.1-8b", 128), ("llama-3.1-70b", 320)])
def test_a_token_of_kv_in_bf16_takes_the_kibibytes_that_everybody_quotes(
    name: str, kib: int
) -> None:
    model = load_model(name)
    one_layer = kv_read_bytes(model, model.kv_heads, 1.0, 2.0)
    assert model.layers * one_layer == kib * 1024
    assert rank_shape(model, 1).kv_elements_per_token * 2 == kib * 1024


def test_attention_multiplies_each_pair_twice_in_every_head(llama_8b: Model) -> None:
    """Query times key, weight times value: 2 FLOP x 128 x 32 heads each."""
    assert attention_flop(llama_8b, 32, 1.0) == 2 * 2 * 128 * 32
    assert attention_flop(llama_8b, 32, 1e6) == 1e6 * attention_flop(llama_8b, 32, 1.0)


def test_small_kernels_move_the_tensors_between_the_products(llama_8b: Model) -> None:
    """Two residual norms (2 in, 2 out each) and the gated activation (2 in, 1 out), in bf16."""
    assert small_kernel_bytes(llama_8b, 1, 3.0) == 3 * 2 * (8 * 4096 + 3 * 14336)

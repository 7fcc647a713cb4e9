"""Counts of the catalog against published figures and hand counts."""

import pytest

from sim.model import Model, list_models, load_model

PUBLISHED_PARAMETERS = {
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "qwen3-32b": 32_762_123_264,
}
"""Elements in the published safetensors files."""


def _tiny(**changes: object) -> Model:
    facts: dict[str, object] = {
        "name": "tiny",
        "layers": 2,
        "hidden_size": 8,
        "heads": 4,
        "kv_heads": 2,
        "head_dim": 3,
        "intermediate_size": 10,
        "vocab_size": 100,
        "max_context_tokens": 64,
    }
    return load_model({**facts, **changes})


def test_the_catalog_holds_exactly_the_models_with_a_published_count() -> None:
    assert set(list_models()) == set(PUBLISHED_PARAMETERS)


@pytest.mark.parametrize("name", sorted(PUBLISHED_PARAMETERS))
def test_parameters_equal_the_published_count(name: str) -> None:
    model = load_model(name)
    assert model.total_parameters == PUBLISHED_PARAMETERS[name]
    assert model.active_parameters == model.total_parameters


@pytest.mark.parametrize(
    ("name", "bytes_in_bf16"),
    [("llama-3.1-8b", 131_072), ("llama-3.1-70b", 327_680), ("qwen3-32b", 262_144)],
)
def test_kv_bytes_per_token_are_two_times_layers_times_kv_heads_times_width(
    name: str, bytes_in_bf16: int
) -> None:
    model = load_model(name)
    assert model.kv_bytes_per_token(2.0) == bytes_in_bf16
    assert model.kv_bytes_per_token(1.0) == bytes_in_bf16 / 2


def test_a_tiny_model_counts_as_by_hand() -> None:
    model = _tiny()
    # One layer: q 8x12, k and v 8x6 each, o 12x8; three MLP matrices 8x10.
    assert model.layer_weight_elements == 96 + 2 * 48 + 96 + 3 * 80
    assert model.norm_elements == 2 * 2 * 8 + 8
    assert model.embedding_elements == model.head_elements == 800
    assert model.total_parameters == 2 * 528 + 40 + 1600
    assert model.kv_elements_per_token == 2 * 2 * 2 * 3


def test_tied_embeddings_are_stored_once_but_the_head_still_works() -> None:
    tied = _tiny(tied_embeddings=True)
    assert _tiny().total_parameters - tied.total_parameters == 800
    assert tied.head_elements == 800


def test_norms_of_queries_and_keys_add_two_head_widths_a_layer() -> None:
    assert _tiny(qk_norm=True).total_parameters - _tiny().total_parameters == 2 * 2 * 3


def test_attention_looks_back_only_unless_the_facts_say_otherwise() -> None:
    assert _tiny().causal
    assert not _tiny(causal=False).causal

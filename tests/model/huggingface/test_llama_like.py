"""Llama and its kin from `config.json`: biases, norms, head widths, ties, windows, experts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import DenseMlp, Experts, GroupedQuery, Model, load_model

LLAMA: dict[str, object] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8,
    "intermediate_size": 10,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}
Load = Callable[..., Model]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def from_config(**changes: object) -> Model:
        path = tmp_path / "config.json"
        path.write_text(json.dumps({**LLAMA, **changes}))
        return load_model(path)

    return from_config


def mixer(model: Model, index: int = 0) -> GroupedQuery:
    found = model.groups[index].layer.mixer
    assert isinstance(found, GroupedQuery)
    return found


# One layer: q 8x8, k and v 8x4 each, o 8x8; three MLP matrices 8x10; two norms.
ATTENTION, MLP, NORMS, ENDS = 192, 240, 16, 2 * 800 + 8


def test_a_llama_counts_as_by_hand(load: Load) -> None:
    model = load()
    assert model.total_parameters == 4 * (ATTENTION + MLP + NORMS) + ENDS
    assert (mixer(model).kv_heads, mixer(model).head_dim, model.max_context_tokens) == (2, 2, 64)
    assert not model.tied_embeddings


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"attention_bias": True}, 4 * (8 + 4 + 4 + 8)),
        ({"mlp_bias": True}, 4 * (10 + 10 + 8)),
        ({"tie_word_embeddings": True}, -800),
        ({"tie_word_embeddings": None}, 0),
        ({"num_key_value_heads": None}, 4 * 2 * 8 * 4),
        ({"head_dim": 3}, 4 * (8 * 12 + 2 * 8 * 6 + 12 * 8 - ATTENTION)),
        ({"head_dim": None}, 0),
        ({"model_type": "qwen2"}, 4 * (8 + 4 + 4)),
        ({"model_type": "qwen3", "head_dim": 2}, 4 * 2 * 2),
        ({"model_type": "olmo2"}, 4 * (8 + 4)),
        ({"model_type": "gemma", "head_dim": 2}, -800),
        ({"model_type": "glm4"}, 4 * (4 * 8 - 16) + 4 * (8 * 4 + 2 * 8 * 2 + 4 * 8) * 126),
        ({"model_type": "cohere"}, -4 * 8 - 800),
        ({"model_type": "starcoder2"}, -4 * 80 + 4 * (16 + 24 + 18) - 800),
    ],
)
def test_each_trait_adds_what_it_should(load: Load, changes: dict[str, object], more: int) -> None:
    assert load(**changes).total_parameters - load().total_parameters == more


def test_a_missing_head_width_is_the_familys_default(load: Load) -> None:
    # Qwen3's class takes 128 whatever the quotient: 0.6B has 16 heads of 128 on 1,024.
    model = load(
        architectures=["Qwen3ForCausalLM"],
        model_type="qwen3",
        hidden_size=1024,
        intermediate_size=3072,
        num_attention_heads=16,
        num_hidden_layers=28,
        num_key_value_heads=8,
        tie_word_embeddings=True,
        vocab_size=151936,
    )
    assert model.total_parameters == 596_049_920
    assert mixer(model).head_dim == 128
    without_type = load(model_type=None, architectures=["Qwen3ForCausalLM"], head_dim=2)
    assert without_type == load(model_type="qwen3", head_dim=2)


@pytest.mark.parametrize(
    ("changes", "windows"),
    [
        ({"model_type": "mistral", "sliding_window": 16}, [(16, 4)]),
        ({"model_type": "mistral", "sliding_window": None}, [(None, 4)]),
        ({"model_type": "mistral"}, [(4096, 4)]),
        ({"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": False}, [(None, 4)]),
        (
            {
                "model_type": "qwen2",
                "sliding_window": 16,
                "use_sliding_window": True,
                "max_window_layers": 3,
            },
            [(None, 3), (16, 1)],
        ),
        (
            {
                "sliding_window": 16,
                "layer_types": ["sliding_attention", "full_attention"] * 2,
            },
            [(16, 2), (None, 2)],
        ),
        ({"model_type": "cohere2", "sliding_window": 16}, [(16, 3), (None, 1)]),
    ],
)
def test_windows_are_read_from_whatever_says_them(
    load: Load, changes: dict[str, object], windows: list[tuple[int | None, int]]
) -> None:
    model = load(**changes)
    found = [(group.layer.window_tokens, group.count) for group in model.groups]
    assert found == windows


EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 5}


def test_experts_in_all_layers(load: Load) -> None:
    model = load(model_type="qwen3_moe", head_dim=2, **EXPERTS)
    # three matrices 8x5 an expert, and the router 8x6; norms of queries and keys
    assert model.total_parameters == 4 * (ATTENTION + 4 + 6 * 120 + 48 + NORMS) + ENDS
    assert model.total_parameters - model.active_parameters == 4 * 4 * 120


def test_mixtral_gives_the_experts_width_as_intermediate_size(load: Load) -> None:
    model = load(model_type="mixtral", num_local_experts=6, num_experts_per_tok=2)
    assert model.groups[0].layer.mlp == Experts(6, 2, 10, router_elements=48)


@pytest.mark.parametrize(
    ("changes", "sparse"),
    [
        ({"model_type": "qwen3_moe", "mlp_only_layers": [1]}, 3),
        ({"model_type": "qwen3_moe", "decoder_sparse_step": 2}, 2),
        ({"model_type": "glm4_moe", "first_k_dense_replace": 3}, 1),
        ({"model_type": "bailing_moe_v2", "first_k_dense_replace": 1}, 3),
        ({"model_type": "dots1", "moe_layer_freq": [0, 1, 1, 0]}, 2),
        ({"model_type": "qwen3_moe", "mlp_layer_types": ["dense"] * 3 + ["sparse"]}, 1),
    ],
)
def test_dense_layers_among_those_that_route(
    load: Load, changes: dict[str, object], sparse: int
) -> None:
    model = load(**EXPERTS, **changes)
    counts = {type(group.layer.mlp): group.count for group in model.groups}
    assert counts == {Experts: sparse, DenseMlp: 4 - sparse}


def test_shared_experts_by_width_or_by_number(load: Load) -> None:
    by_width = load(model_type="qwen2_moe", shared_expert_intermediate_size=9, **EXPERTS)
    mlp = by_width.groups[0].layer.mlp
    assert isinstance(mlp, Experts)
    assert (mlp.shared_intermediate_size, mlp.shared_gate) == (9, True)
    assert mlp.always_elements(8) == 48 + 3 * 8 * 9 + 8
    by_number = load(model_type="glm4_moe", n_shared_experts=2, **EXPERTS)
    mlp = by_number.groups[0].layer.mlp
    assert isinstance(mlp, Experts)
    assert (mlp.shared_intermediate_size, mlp.shared_gate) == (10, False)


def test_layers_that_predict_further_tokens_are_apart(load: Load) -> None:
    plain, model = load(), load(num_nextn_predict_layers=2)
    assert model.total_parameters == plain.total_parameters
    # a decoder layer, a projection of two hidden states to one, three norms
    assert model.mtp_parameters == 2 * (ATTENTION + MLP + NORMS + 2 * 64 + 3 * 8)


def test_more_active_experts_than_there_are_is_refused(load: Load) -> None:
    with pytest.raises(InputError, match="`num_experts_per_tok` asks for 9 of 6 experts"):
        load(model_type="qwen3_moe", **{**EXPERTS, "num_experts_per_tok": 9})

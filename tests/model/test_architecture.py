"""Three architectures worked out by hand: grouped queries, latent with experts, hybrid."""

import pytest

from sim.model import GroupedQuery, Latent, Layer, Model, Recurrent, load_model

DENSE: dict[str, object] = {
    "name": "dense",
    "layers": 2,
    "hidden_size": 8,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 3,
    "intermediate_size": 10,
    "vocab_size": 100,
    "max_context_tokens": 64,
}

LATENT: dict[str, object] = {
    "name": "latent",
    "hidden_size": 16,
    "vocab_size": 50,
    "max_context_tokens": 64,
    "architecture": {
        "mixers": {
            "mla": {
                "kind": "latent",
                "heads": 2,
                "query_rank": 6,
                "kv_rank": 4,
                "nope_dim": 3,
                "rope_dim": 2,
                "value_dim": 5,
            }
        },
        "mlps": {
            "dense": {"kind": "dense", "intermediate_size": 20},
            "moe": {
                "kind": "moe",
                "experts": 8,
                "active": 2,
                "intermediate_size": 7,
                "shared_intermediate_size": 9,
            },
        },
        "layers": [
            {"count": 1, "mixer": "mla", "mlp": "dense"},
            {"count": 3, "mixer": "mla", "mlp": "moe"},
        ],
    },
}

HYBRID: dict[str, object] = {
    "name": "hybrid",
    "hidden_size": 8,
    "vocab_size": 40,
    "tied_embeddings": True,
    "max_context_tokens": 1024,
    "architecture": {
        "mixers": {
            "linear": {
                "kind": "gated_delta",
                "key_heads": 2,
                "value_heads": 4,
                "key_dim": 3,
                "value_dim": 5,
            },
            "gated": {
                "kind": "grouped_query",
                "heads": 4,
                "kv_heads": 1,
                "head_dim": 6,
                "qk_norm": "head",
                "output_gate": True,
            },
            "near": {
                "kind": "grouped_query",
                "heads": 4,
                "kv_heads": 1,
                "head_dim": 6,
                "window_tokens": 16,
            },
        },
        "mlps": {"mlp": {"kind": "dense", "intermediate_size": 10}},
        "layers": [
            {"count": 3, "mixer": "linear", "mlp": "mlp"},
            {"count": 1, "mixer": "gated", "mlp": "mlp"},
            {"count": 2, "mixer": "near", "mlp": "mlp"},
        ],
    },
}


def layer(model: Model, index: int) -> Layer:
    return model.groups[index].layer


def test_a_dense_model_counts_as_by_hand() -> None:
    model = load_model(DENSE)
    mixer = layer(model, 0).mixer
    assert isinstance(mixer, GroupedQuery)
    # q 8x12, k and v 8x6 each, o 12x8
    assert mixer.matrix_elements(8) == 96 + 2 * 48 + 96
    # and three MLP matrices 8x10, and two norms of 8
    assert layer(model, 0).total_elements(8) == 288 + 3 * 80 + 2 * 8
    # two layers, embeddings and head of 100x8, the last norm
    assert model.total_parameters == 2 * 544 + 2 * 800 + 8
    assert model.active_parameters == model.total_parameters
    assert model.embedding_elements == model.head_elements == 800
    # two layers x two KV heads x (3 + 3)
    assert model.kv_elements_per_token() == 2 * 2 * 6
    assert model.kv_bytes_per_token(2.0) == 48
    assert (model.num_layers, model.layers_with_kv, model.state_elements_per_sequence) == (2, 2, 0)


def test_latent_attention_with_experts_counts_as_by_hand() -> None:
    model = load_model(LATENT)
    mixer = layer(model, 0).mixer
    assert isinstance(mixer, Latent)
    # query: 16x6 down, 6x(2 heads x 5) up; latent 16x(4+2); its up-projection 4x(2x(3+5));
    # output (2x5)x16
    assert mixer.matrix_elements(16) == 96 + 60 + 96 + 64 + 160
    assert mixer.other_elements == 6 + 4  # norms of the compressed query and of the latent
    attention = 476 + 10
    # dense: 3x16x20; experts: 3x16x7 each, the shared one 3x16x9, the router 16x8
    dense, expert, always = 960, 336, 432 + 128
    norms, ends = 32, 2 * 800 + 16
    total = 4 * (attention + norms) + dense + 3 * (8 * expert + always) + ends
    assert model.total_parameters == total
    assert model.total_parameters - model.active_parameters == 3 * 6 * expert
    # one latent of 4 and one rotary part of 2 per token, not two per head
    assert model.kv_elements_per_token() == 4 * 6
    assert model.indexer_elements_per_token == 0


def test_a_hybrid_counts_as_by_hand() -> None:
    model = load_model(HYBRID)
    linear, gated = layer(model, 0).mixer, layer(model, 1).mixer
    assert isinstance(linear, Recurrent)
    assert isinstance(gated, GroupedQuery)
    # keys are 2x3 wide, values 4x5; in: q, k, v, z and two numbers a value head; out 20x8
    assert linear.input_elements == 8 * (6 + 6 + 20 + 20 + 4 + 4)
    assert linear.output_elements == 160
    # the convolution has 4 taps over q, k, v; decay and step per value head; one norm of 5
    assert linear.other_elements == 4 * 32 + 4 + 4 + 5
    assert (linear.state_elements, linear.conv_state_elements) == (4 * 3 * 5, 32 * 3)
    # 7 per element of the state (Yang et al. 2024, eq. 10) and 2 per tap of the convolution
    assert linear.flop_per_token == 7 * 60 + 2 * 4 * 32
    # the query projection is doubled by its gate: 8x48, k and v 8x6 each, o 24x8, two norms of 6
    assert gated.matrix_elements(8) + gated.other_elements == 384 + 96 + 192 + 12
    assert model.state_elements_per_sequence == 3 * (60 + 96)
    assert (model.layers_with_kv, model.layers_without_kv) == (3, 3)
    near = 192 + 96 + 192
    mlp_and_norms = 3 * 8 * 10 + 16
    layers = 3 * (480 + 160 + 141) + 684 + 2 * near + 6 * mlp_and_norms
    assert model.total_parameters == layers + 320 + 8  # the head is tied


def test_a_window_holds_no_more_than_its_tokens() -> None:
    model = load_model(HYBRID)
    # one full and two windowed layers of 12 entries per token
    assert model.kv_elements_per_token() == 36
    assert model.full_kv_elements_per_token == 12
    assert [group.count for group in model.windowed] == [2]
    assert model.kv_elements(16) == 36 * 16
    assert model.kv_elements(100) == 12 * 100 + 24 * 16
    assert model.kv_elements_per_token(100) == pytest.approx(12 + 24 * 0.16)
    assert model.kv_bytes_per_token(0.5, 100) == pytest.approx(6 + 12 * 0.16)


def test_tied_embeddings_are_stored_once_but_the_head_still_works() -> None:
    tied = load_model({**DENSE, "tied_embeddings": True})
    assert load_model(DENSE).total_parameters - tied.total_parameters == 800
    assert tied.head_elements == 800


def test_norms_and_biases_of_queries_and_keys_are_counted() -> None:
    plain = load_model(DENSE).total_parameters
    assert load_model({**DENSE, "qk_norm": True}).total_parameters - plain == 2 * 2 * 3
    assert load_model({**DENSE, "qkv_bias": True}).total_parameters - plain == 2 * (12 + 6 + 6)


def test_vision_is_in_the_total_and_prediction_layers_are_apart() -> None:
    plain = load_model(DENSE)
    model = load_model({**DENSE, "vision_parameters": 1000, "mtp_parameters": 77})
    assert model.total_parameters == plain.total_parameters + 1000
    assert model.active_parameters == plain.active_parameters + 1000
    assert model.language_parameters == plain.total_parameters
    assert model.mtp_parameters == 77


def test_a_model_looks_back_only_and_writes_token_by_token_unless_it_says_otherwise() -> None:
    assert load_model(DENSE).causal
    assert load_model(DENSE).decoding == ("autoregressive",)
    both_ways = load_model({**DENSE, "causal": False})
    assert (both_ways.causal, both_ways.decoding) == (False, ("diffusion",))
    blocks = load_model({**DENSE, "causal": False, "decoding": ["block_diffusion"]})
    assert blocks.decoding == ("block_diffusion",)


def test_an_architecture_is_told_in_one_line() -> None:
    assert load_model(DENSE).describe() == "2 layers of 8: 2 x GQA 4/2 x 3 + MLP 10"
    assert (
        "MLA 2 heads, latent 4+2 + 2 of 8 experts 7 and 9 shared" in load_model(LATENT).describe()
    )
    assert "3 x gated delta state 60 + MLP 10" in load_model(HYBRID).describe()
    assert "2 x MQA 4/1 x 6 in a window of 16" in load_model(HYBRID).describe()

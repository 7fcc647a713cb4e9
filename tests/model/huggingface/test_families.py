"""One small configuration of each family with a layer of its own, counted by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import DenseMlp, Experts, GroupedQuery, Latent, Model, Recurrent, load_model

SIZES: dict[str, object] = {
    "hidden_size": 8,
    "intermediate_size": 10,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}
ENDS = 2 * 800 + 8
Load = Callable[..., Model]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def from_config(model_type: str, **changes: object) -> Model:
        path = tmp_path / "config.json"
        path.write_text(json.dumps({**SIZES, "model_type": model_type, **changes}))
        return load_model(path)

    return from_config


MLA: dict[str, object] = {
    "num_hidden_layers": 3,
    "q_lora_rank": 6,
    "kv_lora_rank": 4,
    "qk_nope_head_dim": 3,
    "qk_rope_head_dim": 2,
    "v_head_dim": 5,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_routed_experts": 6,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 7,
    "topk_method": "noaux_tc",
}
# query 8x6 + 6x(4x5); latent 8x6; up 4x(4x8); output (4x5)x8; norms of 6 and 4
LATENT = 48 + 120 + 48 + 128 + 160 + 10


def test_deepseek_v3(load: Load) -> None:
    model = load("deepseek_v3", num_nextn_predict_layers=1, **MLA)
    expert, always = 3 * 8 * 7, 48 + 3 * 8 * 7
    layers = 3 * (LATENT + 16) + 3 * 8 * 10 + 2 * (6 * expert + always)
    assert model.total_parameters == layers + ENDS
    assert model.total_parameters - model.active_parameters == 2 * 4 * expert
    assert model.kv_elements_per_token() == 3 * 6
    assert model.mtp_parameters == LATENT + 16 + 6 * expert + always + 2 * 64 + 24


def test_deepseek_v2_lite_projects_queries_in_one_step(load: Load) -> None:
    model = load("deepseek_v2", **{**MLA, "q_lora_rank": None, "topk_method": "greedy"})
    mixer = model.groups[0].layer.mixer
    assert isinstance(mixer, Latent)
    assert mixer.query_rank is None
    assert mixer.matrix_elements(8) + mixer.other_elements == 8 * 20 + 48 + 128 + 160 + 4


def test_sparse_attention_adds_an_indexer_and_its_cache(load: Load) -> None:
    sparse = {"index_topk": 16, "index_n_heads": 3, "index_head_dim": 2}
    model = load("glm_moe_dsa", head_dim=1, **MLA, **sparse)
    mixer = model.groups[0].layer.mixer
    assert isinstance(mixer, Latent)
    assert mixer.top_k_tokens == 16
    # queries 6x(3x2), key 8x2, weights of heads 8x3, LayerNorm of the key
    more = 36 + 16 + 24 + 4
    assert model.total_parameters - load("deepseek_v3", **MLA).total_parameters == 3 * more
    assert model.kv_elements_per_token() == 3 * 6
    assert model.indexer_elements_per_token == 3 * 2


def test_qwen_hybrids_alternate_and_gate(load: Load) -> None:
    linear = {
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 3,
        "linear_value_head_dim": 5,
        "linear_conv_kernel_dim": 4,
    }
    model = load("qwen3_next", num_hidden_layers=8, head_dim=6, **linear)
    kinds = [(type(group.layer.mixer), group.count) for group in model.groups]
    assert kinds == [(Recurrent, 6), (GroupedQuery, 2)]
    # as in the hybrid worked out in test_architecture.py: 480 in, 160 out, 141 beside
    attention = 8 * 48 + 2 * 8 * 12 + 24 * 8 + 12
    layers = 6 * (480 + 160 + 141) + 2 * attention + 8 * (240 + 16)
    assert model.total_parameters == layers + ENDS
    assert model.kv_elements_per_token() == 2 * 2 * 12
    ungated = load(
        "qwen3_5_text", num_hidden_layers=8, head_dim=6, attn_output_gate=False, **linear
    )
    assert model.total_parameters - ungated.total_parameters == 2 * 8 * 24
    with pytest.raises(InputError, match="`layer_types` holds 'mamba'"):
        load("qwen3_next", num_hidden_layers=1, layer_types=["mamba"], **linear)


def test_gemma_2_and_3_slide_and_tie_where_nothing_is_said(load: Load) -> None:
    two = load("gemma2", num_hidden_layers=4, head_dim=2, tie_word_embeddings=None)
    assert two.tied_embeddings
    assert [(g.layer.window_tokens, g.count) for g in two.groups] == [(4096, 2), (None, 2)]
    # attention 192, MLP 240, four norms
    assert two.total_parameters == 4 * (192 + 240 + 32) + 800 + 8
    three = load("gemma3_text", num_hidden_layers=12, head_dim=2, sliding_window=16)
    assert [(g.layer.window_tokens, g.count) for g in three.groups] == [(16, 10), (None, 2)]
    assert three.total_parameters == 12 * (192 + 4 + 240 + 32) + ENDS


def test_gemma_4_has_other_heads_in_full_layers_and_a_dense_mlp_beside_experts(load: Load) -> None:
    wide = {
        "num_hidden_layers": 6,
        "head_dim": 2,
        "global_head_dim": 4,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": True,
        "hidden_size_per_layer_input": 0,
        "sliding_window": 16,
    }
    dense = load("gemma4_text", **wide)
    # full: q 8x16, k 8x4 and no v, o 16x8, norms of 4
    layers = 5 * (192 + 4) + (128 + 32 + 128 + 8) + 6 * (240 + 32)
    assert dense.total_parameters == layers + ENDS
    # values are cached though no projection makes them
    assert dense.kv_elements_per_token() == 5 * 2 * 4 + 8
    moe = load(
        "gemma4_text",
        **wide,
        enable_moe_block=True,
        num_experts=6,
        top_k_experts=2,
        moe_intermediate_size=5,
    )
    # six experts 3x8x5, router 8x6 with its two scales, three more norms
    assert moe.total_parameters - dense.total_parameters == 6 * (720 + 48 + 8 + 6 + 24)
    with pytest.raises(InputError, match="`num_kv_shared_layers`"):
        load("gemma4_text", **{**wide, "num_kv_shared_layers": 2})


def test_gpt_oss_has_biases_and_sinks(load: Load) -> None:
    model = load(
        "gpt_oss", num_hidden_layers=2, head_dim=2, num_local_experts=6, num_experts_per_tok=2
    )
    # attention 192 + biases 8+4+4+8 + 4 sinks; expert 3x8x10 + 20 + 8; router 8x6 + 6
    expert = 240 + 28
    assert model.total_parameters == 2 * (192 + 24 + 4 + 6 * expert + 54 + 16) + ENDS
    assert model.total_parameters - model.active_parameters == 2 * 4 * expert
    assert [g.layer.window_tokens for g in model.groups] == [128, None]


def test_llama_4_chunks_and_routes_in_turn(load: Load) -> None:
    model = load(
        "llama4_text",
        num_hidden_layers=8,
        head_dim=2,
        interleave_moe_layer_step=2,
        intermediate_size_mlp=20,
        num_local_experts=6,
        num_experts_per_tok=1,
        attention_chunk_size=16,
    )
    shapes = [(g.layer.window_tokens, type(g.layer.mlp), g.count) for g in model.groups]
    assert shapes == [(16, DenseMlp, 4), (16, Experts, 2), (None, Experts, 2)]
    routed = 6 * 240 + 240 + 48
    assert model.total_parameters == 8 * (192 + 16) + 4 * 480 + 4 * routed + ENDS


def test_nemotron_h_is_read_off_its_letters(load: Load) -> None:
    model = load(
        "nemotron_h",
        hybrid_override_pattern="MEM*-",
        num_hidden_layers=5,
        head_dim=2,
        mamba_num_heads=3,
        mamba_head_dim=4,
        n_groups=2,
        ssm_state_size=5,
        conv_kernel=4,
        n_routed_experts=6,
        num_experts_per_tok=2,
        n_shared_experts=1,
        moe_intermediate_size=7,
        moe_shared_expert_intermediate_size=9,
    )
    # inner 12, channels 12 + 2x2x5; in 8x(12+32+3), out 12x8; conv 4x32 + 32, A, D, dt, norm 12
    mamba = 8 * 47 + 96 + 160 + 9 + 12
    # two matrices an expert and the shared one, the router
    moe = 6 * 2 * 8 * 7 + 2 * 8 * 9 + 48
    assert model.total_parameters == 2 * mamba + moe + 192 + 160 + 5 * 8 + ENDS
    assert model.state_elements_per_sequence == 2 * (12 * 5 + 32 * 3)
    assert (model.num_layers, model.layers_with_kv) == (5, 1)
    with pytest.raises(InputError, match="`hybrid_override_pattern` holds 'X'"):
        load("nemotron_h", hybrid_override_pattern="X", num_hidden_layers=1)


def test_jamba_attends_once_in_a_period(load: Load) -> None:
    model = load(
        "jamba",
        num_hidden_layers=4,
        attn_layer_period=4,
        attn_layer_offset=2,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=6,
        num_experts_per_tok=2,
        mamba_d_state=3,
        mamba_d_conv=4,
        mamba_expand=2,
        mamba_dt_rank="auto",
    )
    # inner 16, rank 8/16 -> 1; in 8x32, out 16x8, x 16x(1+6), dt 16, conv 64 + 16, A 48, D 16,
    # bias of dt 16, norms of 1 + 3 + 3
    mamba = 256 + 128 + 112 + 16 + 80 + 48 + 16 + 16 + 7
    routed = 6 * 240 + 48
    assert model.total_parameters == 3 * mamba + 192 + 2 * 240 + 2 * routed + 4 * 16 + ENDS
    assert model.state_elements_per_sequence == 3 * (16 * 3 + 16 * 3)


def test_minimax_01_attends_once_in_eight(load: Load) -> None:
    model = load(
        "minimax_text_01",
        num_hidden_layers=8,
        attn_type_list=[0] * 7 + [1],
        num_local_experts=6,
        num_experts_per_tok=2,
        layernorm_full_attention_alpha=3.5,
    )
    # lightning: q, k, v, gate and output of 8x8, a norm of 8
    linear, routed = 5 * 64 + 8, 6 * 240 + 48
    assert model.total_parameters == 7 * linear + 192 + 8 * (routed + 16) + ENDS
    assert model.state_elements_per_sequence == 7 * 4 * 2 * 2

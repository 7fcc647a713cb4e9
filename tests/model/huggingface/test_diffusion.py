"""Configurations of models trained for diffusion, and stacks found by architecture search."""

import json
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import Model, load_model

SIZES: dict[str, object] = {
    "hidden_size": 8,
    "intermediate_size": 10,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 4,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}
ENDS = 2 * 800 + 8


def load(folder: Path, config: dict[str, object]) -> Model:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return load_model(path)


def test_llada_in_the_names_of_olmo_and_in_those_of_llama(tmp_path: Path) -> None:
    olmo: dict[str, object] = {
        "model_type": "llada",
        "d_model": 8,
        "n_heads": 4,
        "n_kv_heads": 2,
        "n_layers": 4,
        "mlp_hidden_size": 10,
        "max_sequence_length": 64,
        "vocab_size": 100,
        "embedding_size": 100,
        "weight_tying": False,
        "include_bias": False,
        "block_type": "llama",
        "layer_norm_type": "rms",
        "mask_token_id": 99,
        "mlp_ratio": 4,
        "rope": True,
        "alibi": False,
        "init_device": "meta",
    }
    model = load(tmp_path, olmo)
    assert model.total_parameters == 4 * (192 + 240 + 16) + ENDS
    assert (model.causal, model.decoding) == (False, ("diffusion",))
    assert model.groups == load(tmp_path, {**SIZES, "model_type": "llada"}).groups
    with pytest.raises(InputError, match="`block_type` should be llama"):
        load(tmp_path, {**olmo, "block_type": "sequential"})
    with pytest.raises(InputError, match="`alibi` is not understood"):
        load(tmp_path, {**olmo, "alibi": True})


def test_dream_is_a_qwen_2_that_looks_both_ways(tmp_path: Path) -> None:
    model = load(tmp_path, {**SIZES, "model_type": "Dream", "mask_token_id": 5})
    assert model.groups == load(tmp_path, {**SIZES, "model_type": "qwen2"}).groups
    assert (model.causal, model.decoding) == (False, ("diffusion",))


def test_sdar_and_llada_2_denoise_blocks(tmp_path: Path) -> None:
    sdar = load(tmp_path, {**SIZES, "model_type": "sdar", "head_dim": 2, "block_size": 4})
    qwen = load(tmp_path, {**SIZES, "model_type": "qwen3", "head_dim": 2})
    assert sdar.groups == qwen.groups
    assert (sdar.causal, sdar.decoding) == (False, ("block_diffusion",))
    mini: dict[str, object] = {  # the published shape of LLaDA2.0-mini, on two layers
        **SIZES,
        "model_type": "llada2_moe",
        "num_hidden_layers": 2,
        "first_k_dense_replace": 1,
        "head_dim": 2,
        "moe_intermediate_size": 5,
        "num_experts": 6,
        "num_experts_per_tok": 2,
        "num_shared_experts": 1,
        "moe_router_enable_expert_bias": True,
        "use_qk_norm": True,
        "norm_head": False,
        "score_function": "sigmoid",
    }
    model = load(tmp_path, mini)
    attention = 192 + 4 + 16
    assert model.total_parameters == 2 * attention + 240 + 6 * 120 + 120 + 48 + ENDS
    assert model.decoding == ("block_diffusion",)


def test_diffusion_gemma_feeds_its_guess_back_through_one_more_mlp(tmp_path: Path) -> None:
    text: dict[str, object] = {
        **SIZES,
        "model_type": "diffusion_gemma_text",
        "num_hidden_layers": 6,
        "head_dim": 2,
        "global_head_dim": 4,
        "num_global_key_value_heads": 1,
        "attention_k_eq_v": False,
        "sliding_window": 16,
        "num_experts": 6,
        "top_k_experts": 2,
        "moe_intermediate_size": 5,
    }
    config = {"model_type": "diffusion_gemma", "canvas_length": 256, "text_config": text}
    model = load(tmp_path, config)
    attention = 5 * (192 + 4) + (128 + 32 + 128 + 8)
    layer = 240 + 720 + 48 + 8 + 6 + 7 * 8
    assert model.total_parameters == attention + 6 * layer + ENDS + 3 * 8 * 10 + 8
    assert (model.causal, model.decoding) == (False, ("block_diffusion",))


def block(attention: dict[str, object], ffn: dict[str, object]) -> dict[str, object]:
    return {"attention": attention, "ffn": ffn}


def test_a_searched_stack_has_a_shape_per_layer(tmp_path: Path) -> None:
    full: dict[str, object] = {"n_heads_in_group": 2, "no_op": False, "window_length": None}
    blocks = [
        block(full, {"ffn_mult": 60.0, "no_op": False}),
        block({"n_heads_in_group": None, "no_op": True}, {"ffn_mult": 60.0, "no_op": False}),
        block({**full, "n_heads_in_group": 4, "window_length": 16}, {"no_op": True}),
    ]
    config: dict[str, object] = {
        **SIZES,
        "model_type": "nemotron-nas",
        "num_hidden_layers": 3,
        "num_key_value_heads": None,
        "intermediate_size": None,
        "block_configs": blocks,
    }
    model = load(tmp_path, config)
    # 2/3 x 60 x 8 = 320, rounded up to 512; a layer without a part has no norm for it
    mlp = 3 * 8 * 512
    assert model.total_parameters == 192 + mlp + 16 + mlp + 8 + (64 + 32 + 64 + 8) + ENDS
    assert [g.layer.window_tokens for g in model.groups] == [None, None, 16]
    assert model.layers_with_kv == 2
    odd = [block({**full, "replace_with_linear": True}, {"ffn_mult": 1.0}), *blocks[1:]]
    with pytest.raises(InputError, match=r"`block_configs.0.attention.replace_with_linear`"):
        load(tmp_path, {**config, "block_configs": odd})
    with pytest.raises(InputError, match="`block_configs` has 2 entries, but there are 3 layers"):
        load(tmp_path, {**config, "block_configs": blocks[1:]})

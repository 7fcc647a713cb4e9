"""Odd configurations: what changes the counts is refused by name, what is cosmetic is not."""

import json
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import Model, load_model

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
TOTAL = 4 * (192 + 240 + 16) + 2 * 800 + 8
LEFT_OUT = object()


def write(folder: Path, **changes: object) -> Path:
    config = {**LLAMA, **changes}
    kept = {key: value for key, value in config.items() if value is not LEFT_OUT}
    path = folder / "config.json"
    path.write_text(json.dumps(kept))
    return path


def load(folder: Path, **changes: object) -> Model:
    return load_model(write(folder, **changes))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kv_lora_rank": 4}, "`kv_lora_rank` not understood"),
        ({"parallel_mlp_width": 7}, "`parallel_mlp_width` not understood"),
        ({"ffn_dim_multiplier": 1.3}, "`ffn_dim_multiplier` not understood"),
        ({"cross_attention_layers": [3, 8]}, "`cross_attention_layers` not understood"),
        ({"layer_types": ["full_attention"] * 3}, "`layer_types` has 3 entries, but there are 4"),
        ({"layer_types": ["rwkv"] * 4}, "`layer_types` holds 'rwkv', which is not understood"),
        ({"layer_types": ["sliding_attention"] * 4}, "`sliding_window` is missing"),
        ({"num_hidden_layers": LEFT_OUT}, "`num_hidden_layers` is missing"),
        ({"num_hidden_layers": None}, "`num_hidden_layers` is missing"),
        ({"hidden_size": "8"}, "`hidden_size` should be a whole number from 1 on, found '8'"),
        ({"hidden_size": 8.5}, "`hidden_size` should be a whole number"),
        ({"num_key_value_heads": -8}, "`num_key_value_heads` should be a whole number"),
        ({"num_key_value_heads": 3}, "`num_key_value_heads` 3 does not divide the 4 query heads"),
        ({"num_attention_heads": 3}, "`head_dim` is missing, and 8 is not a multiple of 3 heads"),
        ({"vocab_size": 0}, "`vocab_size` should be a whole number from 1 on, found 0"),
        ({"attention_bias": "yes"}, "`attention_bias` should be true or false, found 'yes'"),
        ({"text_config": 5}, "`text_config` should be an object, found 5"),
        ({"torch_dtype": "int8"}, "`torch_dtype` 'int8' is not understood"),
        ({"audio_config": {"hidden_size": 4}}, "`audio_config` not understood"),
        ({"vision_config": {"model_type": "blip"}}, "`vision_config.model_type` 'blip'"),
        ({"model_type": "deepseek_v4", "compress_ratios": [0, 4]}, "`compress_ratios`"),
        ({"model_type": "t5", "d_model": 512}, "`d_model` is not understood (model type 't5')"),
        ({"model_type": LEFT_OUT, "architectures": LEFT_OUT}, "`model_type` is missing"),
    ],
)
def test_what_could_change_a_count_is_refused_by_name(
    tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"bos_token_id": 1, "eos_token_id": [1, 2], "image_token_index": 7, "mask_token_id": 3},
        {"rope_theta": 1e6, "rope_scaling": {"factor": 8.0}, "partial_rotary_factor": 0.5},
        {"rope_parameters": {"rope_theta": 1e6}, "original_max_position_embeddings": 32},
        {"attention_dropout": 0.1, "resid_pdrop": 0.1, "router_aux_loss_coef": 0.01},
        {"rms_norm_eps": 1e-6, "layer_norm_epsilon": 1e-5, "initializer_range": 0.02},
        {"auto_map": {"AutoModel": "x"}, "_name_or_path": "y", "transformers_version": "5.0"},
        {"embedding_multiplier": 12, "logits_scaling": 8, "attn_logit_softcapping": 50.0},
        {"layer_types": ["full_attention"] * 4, "use_cache": False, "pretraining_tp": 2},
        {"num_experts": 0, "kv_lora_rank": None, "cross_attention_layers": []},
        {"head_dim": None, "mlp_bias": None, "sliding_window": None, "attention_bias": 0},
        {"hidden_size": 8.0, "num_hidden_layers": 4.0},
        {"dtype": "float16", "torch_dtype": LEFT_OUT},
        {"torch_dtype": "float32"},
        {"torch_dtype": None, "quantization_config": None},
        {"model_type": LEFT_OUT},
    ],
)
def test_cosmetic_fields_and_nulls_are_no_obstacle(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    assert load(tmp_path, **changes).total_parameters == TOTAL


def test_an_unknown_type_is_read_as_llama_like_and_says_so(tmp_path: Path) -> None:
    model = load(tmp_path, model_type="brand_new")
    assert model.total_parameters == TOTAL
    assert "read as Llama-like: `model_type` 'brand_new' is not known" in model.source
    assert "Llama-like" not in load(tmp_path).source
    routed = load(
        tmp_path,
        model_type="brand_new_moe",
        num_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=5,
    )
    assert routed.total_parameters == TOTAL + 4 * (6 * 120 + 48 - 240)


def test_a_text_config_inside_is_the_model(tmp_path: Path) -> None:
    nested = {"model_type": "mistral3", "text_config": {**LLAMA, "model_type": "mistral"}}
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**nested, "image_token_index": 10, "dtype": "bfloat16"}))
    assert load_model(path).total_parameters == TOTAL
    # A tie that is said outside holds inside; a type that is left out inside follows the outer.
    path.write_text(json.dumps({**nested, "tie_word_embeddings": True}))
    assert load_model(path).total_parameters == TOTAL - 800
    inner = {key: value for key, value in LLAMA.items() if key != "model_type"}
    path.write_text(json.dumps({"model_type": "llava", "text_config": inner}))
    assert load_model(path).total_parameters == TOTAL
    path.write_text(json.dumps({**nested, "text_config": {**LLAMA, "n_inner_ffn": 3}}))
    with pytest.raises(InputError, match=r"`text_config.n_inner_ffn` not understood"):
        load_model(path)


def test_a_folder_means_the_config_in_it_and_gives_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "Llama-Tiny"
    folder.mkdir()
    assert load_model(write(folder)) == load_model(str(folder))
    assert load_model(folder).name == "Llama-Tiny"
    renamed = tmp_path / "org--name_config.json"
    renamed.write_text((folder / "config.json").read_text())
    assert load_model(renamed).name == "org--name"


def test_many_fields_that_are_not_understood_are_not_all_printed(tmp_path: Path) -> None:
    odd = {f"strange_width_{index}": 3 for index in range(12)}
    with pytest.raises(InputError, match="`strange_width_7` and 4 more not understood"):
        load(tmp_path, **odd)

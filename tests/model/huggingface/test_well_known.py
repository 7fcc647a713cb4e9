"""Configurations of well-known models, as far as they bear on counts, against published totals."""

import json
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import load_model


def sizes(  # noqa: PLR0917  # reads as a row of a table
    hidden: int, inter: int, layers: int, heads: int, kv_heads: int, vocab: int
) -> dict[str, object]:
    return {
        "hidden_size": hidden,
        "intermediate_size": inter,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocab,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": False,
    }


MISTRAL_SMALL = {
    "model_type": "mistral3",
    "multimodal_projector_bias": False,
    "spatial_merge_size": 2,
    "text_config": {
        **sizes(5120, 32768, 40, 32, 8, 131072),
        "model_type": "mistral",
        "head_dim": 128,
        "sliding_window": None,
    },
    "vision_config": {
        "model_type": "pixtral",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "patch_size": 14,
    },
}
V2_LITE = {
    **sizes(2048, 10944, 27, 16, 16, 102400),
    "model_type": "deepseek_v2",
    "q_lora_rank": None,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "moe_intermediate_size": 1408,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
}
GRANITE_4_SMALL = {
    **sizes(4096, 768, 40, 32, 8, 100352),
    "model_type": "granitemoehybrid",
    "tie_word_embeddings": True,
    "shared_intermediate_size": 1536,
    "layer_types": ["attention" if index % 10 == 5 else "mamba" for index in range(40)],
    "mamba_n_heads": 128,
    "mamba_d_head": 64,
    "mamba_d_state": 128,
    "mamba_n_groups": 1,
    "mamba_chunk_size": 256,
    "num_local_experts": 72,
    "num_experts_per_tok": 10,
}
ERNIE = {
    **sizes(8192, 28672, 54, 64, 8, 103424),
    "model_type": "ernie4_5_moe",
    "moe_num_experts": 64,
    "moe_k": 8,
    "moe_intermediate_size": 3584,
    "moe_layer_start_index": 3,
    "moe_layer_end_index": 53,
    "moe_capacity": [64, 64, 64],
}
MINIMAX_M1 = {
    **sizes(6144, 9216, 80, 64, 8, 200064),
    "model_type": "minimax_m1",
    "head_dim": 128,
    "attn_type_list": ([0] * 7 + [1]) * 10,
    "num_local_experts": 32,
    "num_experts_per_tok": 2,
    "shared_intermediate_size": 0,
    "shared_moe_mode": "sigmoid",
    "layernorm_mlp_alpha": 3.5,
}


@pytest.mark.parametrize(
    ("name", "published", "tolerance", "config"),
    [
        (
            "Phi-4",
            14_659_507_200,
            0,
            {"model_type": "phi3", **sizes(5120, 17920, 40, 40, 10, 100352)},
        ),
        (
            "Mistral-Nemo",
            12_247_782_400,
            0,
            {"model_type": "mistral", "head_dim": 128, "sliding_window": None}
            | sizes(5120, 14336, 40, 32, 8, 131072),
        ),
        ("Mistral-Small-3.1", 24_011_361_280, 0, MISTRAL_SMALL),
        (
            "GLM-4-32B",
            32_566_081_536,
            0,
            {"model_type": "glm4", **sizes(6144, 23040, 61, 48, 2, 151552)},
        ),
        (
            "OLMo-2-7B",
            7_298_617_344,
            0,
            {"model_type": "olmo2", **sizes(4096, 11008, 32, 32, 32, 100352)},
        ),
        (
            "Seed-OSS-36B",
            36_151_104_512,
            0,
            {"model_type": "seed_oss", **sizes(5120, 27648, 64, 80, 8, 155136)},
        ),
        (
            "Gemma-3-1B",
            999_885_952,
            0,
            sizes(1152, 6912, 26, 4, 1, 262144)
            | {"model_type": "gemma3_text", "tie_word_embeddings": None},
        ),
        ("DeepSeek-V2-Lite", 15_706_484_224, 0, V2_LITE),
        # Cards that round: "32B", "300B", "456B".
        ("Granite-4.0-H-Small", 32.2e9, 1e-3, GRANITE_4_SMALL),
        ("ERNIE-4.5-300B", 299.5e9, 1e-3, ERNIE),
        ("MiniMax-M1", 456e9, 1e-3, MINIMAX_M1),
    ],
)
def test_a_well_known_model_has_its_published_count(
    tmp_path: Path, name: str, published: float, tolerance: float, config: dict[str, object]
) -> None:
    path = tmp_path / f"{name}_config.json"
    path.write_text(json.dumps(config))
    model = load_model(path)
    assert model.total_parameters == pytest.approx(published, rel=tolerance)
    assert model.name == name


def test_a_null_window_is_none_inside_a_text_config_too(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**MISTRAL_SMALL, "tie_word_embeddings": False}))
    assert load_model(path).windowed == ()


def test_a_file_of_several_models_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "omni", "thinker_config": {"text_config": {}}}))
    with pytest.raises(InputError, match="`thinker_config` holds a model of its own"):
        load_model(path)

"""Encoders of images, counted by hand from small towers and by published totals."""

import json
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import Model, load_model

TEXT: dict[str, object] = {
    "hidden_size": 8,
    "intermediate_size": 10,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "head_dim": 2,
    "vocab_size": 100,
}


def load(folder: Path, model_type: str, vision: dict[str, object], **outer: object) -> Model:
    path = folder / "config.json"
    config = {"model_type": model_type, "text_config": TEXT, "vision_config": vision, **outer}
    path.write_text(json.dumps(config))
    return load_model(path)


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


VIT = 4 * linear(6, 6) + linear(6, 9) + linear(9, 6) + 2 * 12
"""A layer 6 wide with an MLP 9 wide, biases, and two LayerNorms."""


def test_qwen_3_vl(tmp_path: Path) -> None:
    tower: dict[str, object] = {
        "depth": 3,
        "hidden_size": 6,
        "intermediate_size": 9,
        "num_position_embeddings": 16,
        "patch_size": 2,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": 8,
        "deepstack_visual_indexes": [1],
    }
    model = load(tmp_path, "qwen3_vl", tower)
    merger = linear(24, 24) + linear(24, 8)
    ends = linear(3 * 2 * 2 * 2, 6) + 16 * 6
    assert model.vision_parameters == ends + 3 * VIT + 2 * merger + 12 + 48
    assert model.total_parameters == model.language_parameters + model.vision_parameters


def test_gemma_3_has_a_siglip(tmp_path: Path) -> None:
    tower: dict[str, object] = {
        "model_type": "siglip_vision_model",
        "hidden_size": 6,
        "image_size": 8,
        "intermediate_size": 9,
        "num_hidden_layers": 3,
        "patch_size": 2,
        "vision_use_head": False,
    }
    model = load(tmp_path, "gemma3", tower)
    # patches 12 -> 6 with bias, 16 positions, the last norm, one matrix to the model and its norm
    assert model.vision_parameters == linear(12, 6) + 96 + 3 * VIT + 12 + 48 + 6
    with pytest.raises(InputError, match=r"`vision_config\.vision_use_head`"):
        load(tmp_path, "gemma3", {**tower, "vision_use_head": True})


def test_published_towers_have_their_published_size(tmp_path: Path) -> None:
    # Qwen2.5-VL-7B: 8,292,166,656 elements, of which the language model is Qwen2.5-7B.
    qwen = {"model_type": "qwen2_5_vl", "hidden_size": 1280, "intermediate_size": 3420}
    path = tmp_path / "config.json"
    flat = {**TEXT, "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4}
    flat |= {"head_dim": 128, "intermediate_size": 18944, "num_hidden_layers": 28}
    flat |= {"vocab_size": 152064, "model_type": "qwen2_5_vl", "vision_config": qwen}
    path.write_text(json.dumps(flat))
    assert load_model(path).total_parameters == 8_292_166_656
    # Llama 4 Scout: 108,641,793,536 elements, 107,769,861,120 of them for text.
    scout = {"hidden_size": 1408, "image_size": 336, "intermediate_size": 5632}
    scout |= {"num_hidden_layers": 34, "patch_size": 14, "vision_output_dim": 4096}
    experts = {"num_local_experts": 4, "num_experts_per_tok": 1, "hidden_size": 5120}
    path.write_text(
        json.dumps(
            {
                "model_type": "llama4",
                "text_config": {**TEXT, **experts, "head_dim": 128},
                "vision_config": {"model_type": "llama4_vision_model", **scout},
            }
        )
    )
    assert load_model(path).vision_parameters == 871_932_416


def test_a_tower_that_is_not_understood_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="take `vision_config` out of a copy of the file"):
        load(tmp_path, "llava", {"model_type": "clip_vision_model"})

"""A model that a user brings: one configuration, with the side file of its quantiser."""

import json
from typing import Any

import pytest

from app.dashboard.models import caption, has_experts, read
from sim.errors import InputError
from sim.model import load_model

QWEN: dict[str, Any] = {
    "model_type": "qwen3",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
}


def as_file(name: str, content: object) -> tuple[str, bytes]:
    return name, json.dumps(content).encode()


def test_a_configuration_is_the_model_that_it_describes() -> None:
    model = load_model(read([as_file("config.json", QWEN)]))
    assert (model.name, model.total_parameters) == ("qwen3", 8_190_735_360)


@pytest.mark.parametrize(
    ("file", "own", "name"),
    [
        ("config.json", {}, "qwen3"),
        ("config.json", {"_name_or_path": "us/Qwen3-8B-Ours"}, "Qwen3-8B-Ours"),
        ("ours_config.json", {}, "ours"),
        ("ours-v2.json", {}, "ours-v2"),
    ],
)
def test_it_is_called_by_its_file_or_by_itself(file: str, own: Any, name: str) -> None:
    assert load_model(read([as_file(file, {**QWEN, **own})])).name == name


@pytest.mark.parametrize("side", ["hf_quant_config.json", "ours_hf_quant_config.json"])
def test_a_side_file_says_how_its_weights_are_stored(side: str) -> None:
    quantised = as_file(side, {"quantization": {"quant_algo": "NVFP4", "group_size": 16}})
    assert load_model(read([quantised, as_file("config.json", QWEN)])).weights.layers == "nvfp4"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("config.json", b"{")], "config.json: this is not JSON"),
        ([("config.json", b"[1]")], "config.json: this JSON holds no keys with values"),
        (
            [as_file("other.json", {"a": 1})],
            "other.json: this is not the `config.json` of a model",
        ),
        ([as_file("a.json", QWEN), as_file("b.json", QWEN)], "several configurations"),
        ([as_file("config.json", {**QWEN, "flux": 3})], "config.json: `flux`"),
        ([as_file("config.json", {**QWEN, "hidden_size": "wide"})], "config.json: `hidden_size`"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence_that_names_the_file(
    files: list[tuple[str, bytes]], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(files)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_facts_in_one_line() -> None:
    assert caption(load_model("gpt-oss-120b")) == (
        "117 B parameters, 5.71 B active · mxfp4 + bf16 · 128k context"
    )
    assert caption(load_model("llama-3.1-8b")) == "8.03 B parameters · bf16 · 128k context"
    assert has_experts(load_model("gpt-oss-120b"))
    assert not has_experts(load_model("llama-3.1-8b"))

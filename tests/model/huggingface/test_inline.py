"""A configuration inline is the model of the file, side file and all."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sim.errors import InputError
from sim.model import load_model
from sim.model.huggingface.inline import fold

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}


def test_a_configuration_inline_is_called_by_its_name_or_its_family() -> None:
    assert load_model(LLAMA).name == "llama"
    named = load_model({**LLAMA, "_name_or_path": "meta-llama/Llama-3.1-8B"})
    assert named.name == "Llama-3.1-8B"
    assert named.total_parameters == 8_030_261_248


def test_a_field_that_is_not_understood_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match="model: `attention_over_what`"):
        load_model({**LLAMA, "attention_over_what": 7})


def test_files_of_the_working_folder_lie_beside_no_inline_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = {"quantization": {"quant_algo": "FP8"}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(side), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_model(LLAMA).weights.layers == "bf16"


def test_a_side_file_is_folded_in_and_the_configuration_has_the_last_word() -> None:
    side = {"hf_quant_config.json": {"quantization": {"quant_algo": "FP8"}}}
    folded = load_model(fold(LLAMA, side, "mine"))
    assert (folded.name, folded.weights.layers) == ("mine", "fp8")
    own = {**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}
    assert load_model(fold(own, side, "mine")).weights.layers == "int4"


def test_published_configurations_inline_are_the_models_of_their_files(
    shared_data: Path, tmp_path: Path
) -> None:
    names = {path.name for path in (shared_data / "configs").glob("*_config.json")}
    stems = {name.removesuffix("_config.json") for name in names if "hf_quant" not in name}
    assert stems
    for stem in sorted(stems - {"deepseek-ai--DeepSeek-V4-Flash"}):  # refused
        folder = tmp_path / stem
        folder.mkdir()
        sides = {}
        for file in ("config.json", "hf_quant_config.json"):
            source = shared_data / "configs" / f"{stem}_{file}"
            if source.exists():
                shutil.copy(source, folder / file)
                sides[file] = json.loads(source.read_text("utf-8"))
        config = sides.pop("config.json")
        inline, read = load_model(fold(config, sides, stem)), load_model(folder)
        assert inline.name == stem
        assert inline.groups == read.groups
        assert (inline.weights.of("experts"), inline.weights.kv, inline.weights.mixed) == (
            read.weights.of("experts"),
            read.weights.kv,
            read.weights.mixed,
        )
        assert inline.total_parameters == read.total_parameters

"""`config.json`: dense Llama and Qwen3 layers are counted, everything else is refused by name."""

import csv
import json
import os
from pathlib import Path

import pytest

from sim.errors import InputError, SimError
from sim.model import load_model

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("PARETOKEN_SHARED", REPOSITORY.parent / "shared" / "data"))
if (SHARED / "data").is_dir():
    SHARED /= "data"
CONFIGS = SHARED / "configs"

QWEN3_TINY: dict[str, object] = {
    "architectures": ["Qwen3ForCausalLM"],
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "max_position_embeddings": 40960,
    "num_attention_heads": 16,
    "num_hidden_layers": 28,
    "num_key_value_heads": 8,
    "rope_scaling": None,
    "sliding_window": None,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "use_sliding_window": False,
    "vocab_size": 151936,
}
"""The shape of Qwen3-0.6B, whose head width of 128 is not 1024 / 16 and is left out here."""


def _write(folder: Path, **changes: object) -> Path:
    config = {**QWEN3_TINY, **changes}
    kept = {key: value for key, value in config.items() if value != "(left out)"}
    path = folder / "config.json"
    path.write_text(json.dumps(kept))
    return path


def test_qwen3_with_its_default_head_width_has_the_published_count(tmp_path: Path) -> None:
    model = load_model(_write(tmp_path))
    assert model.total_parameters == 596_049_920
    assert (model.head_dim, model.qk_norm, model.max_context_tokens) == (128, True, 40960)


def test_a_folder_means_the_config_in_it_and_gives_the_name(tmp_path: Path) -> None:
    folder = tmp_path / "Qwen3-0.6B"
    folder.mkdir()
    assert load_model(_write(folder)) == load_model(str(folder))
    assert load_model(folder).name == "Qwen3-0.6B"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"num_experts": 128, "num_experts_per_tok": 8}, "`num_experts`, `num_experts_per_tok`"),
        ({"kv_lora_rank": 512}, "`kv_lora_rank` not understood"),
        ({"sliding_window": 4096, "use_sliding_window": True}, "`sliding_window`"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "`layer_types`"),
        ({"attention_bias": True}, "`attention_bias`"),
        ({"architectures": ["Qwen3MoeForCausalLM"]}, "`architectures`"),
        ({"architectures": "(left out)"}, "`architectures` is missing"),
        ({"num_hidden_layers": "(left out)"}, "`num_hidden_layers` is missing"),
        ({"hidden_size": "1024"}, "`hidden_size` should be a whole number"),
        ({"num_key_value_heads": -8}, "`num_key_value_heads` should be a whole number"),
        ({"quantization_config": {"quant_method": "awq"}}, "`quantization_config.quant_method`"),
        ({"torch_dtype": "int8"}, "`torch_dtype`"),
    ],
)
def test_a_field_that_is_not_understood_is_refused_by_name(
    tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    path = _write(tmp_path, **changes)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert problem in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"layer_types": ["full_attention"] * 28},
        {"sliding_window": 4096, "use_sliding_window": False},
        {"attention_bias": False, "mlp_bias": False},
        {"num_experts": 0},
    ],
)
def test_a_field_that_switches_nothing_on_is_no_obstacle(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    assert load_model(_write(tmp_path, **changes)).total_parameters == 596_049_920


def test_an_fp8_checkpoint_is_told_from_its_config_or_its_side_file(tmp_path: Path) -> None:
    assert load_model(_write(tmp_path)).weights == "bf16"
    assert (
        load_model(_write(tmp_path, quantization_config={"quant_method": "fp8"})).weights == "fp8"
    )
    side_file = tmp_path / "hf_quant_config.json"
    side_file.write_text('{"quantization": {"quant_algo": "FP8"}}')
    assert load_model(_write(tmp_path)).weights == "fp8"
    side_file.write_text('{"quantization": {"quant_algo": "NVFP4"}}')
    with pytest.raises(InputError, match="NVFP4"):
        load_model(_write(tmp_path))


@pytest.mark.skipif(not CONFIGS.is_dir(), reason="the published configs are not on this machine")
def test_every_published_config_has_its_published_count_or_is_refused() -> None:
    counted = 0
    with (CONFIGS / "parameter_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            try:
                model = load_model(CONFIGS / row["file"])
            except SimError as error:
                assert "`" in str(error), "a refusal names the field"  # noqa: PT017
                continue
            counted += 1
            assert model.total_parameters == int(row["total_parameters"]), row["file"]
    assert counted >= 7

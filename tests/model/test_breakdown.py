"""Where the parameters are: parts add up, and checkpoints are as large as they are on disk."""

import pytest

from sim.model import list_models, load_model
from sim.model.breakdown import breakdown, checkpoint_bytes, formats_label


@pytest.mark.parametrize("name", list_models())
def test_the_parts_add_up_to_the_published_count(name: str) -> None:
    model = load_model(name)
    parts = [part for part in breakdown(model) if part.where != "mtp"]
    assert sum(part.elements for part in parts) == model.total_parameters
    assert sum(part.active_elements for part in parts) == model.active_parameters


def test_the_experts_of_deepseek_v3_are_58_layers_of_256() -> None:
    parts = {part.name: part for part in breakdown(load_model("deepseek-v3"))}
    assert parts["routed experts"].elements == 58 * 256 * 3 * 7168 * 2048
    assert parts["routed experts"].active_elements == 58 * 8 * 3 * 7168 * 2048
    assert parts["shared experts"].elements == 58 * 3 * 7168 * 2048
    assert parts["router"].elements == 58 * 7168 * 256
    assert (parts["MTP layers"].where, parts["MTP layers"].active_elements) == ("mtp", 0)


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        # `total_size` of model.safetensors.index.json, or the sum of the files, decimal
        ("llama-3.1-70b", 141.1),
        ("qwen3-32b", 65.5),
        ("gpt-oss-120b", 65.2),
        ("gpt-oss-20b", 13.8),
        ("deepseek-v3", 671.0 + 2 * 0.93),  # 688.6 GB with the MTP layer, as tensors in fp8
    ],
)
def test_a_checkpoint_is_as_large_as_on_disk(name: str, gigabytes: float) -> None:
    assert checkpoint_bytes(load_model(name)) / 1e9 == pytest.approx(gigabytes, rel=0.01)


def test_formats_are_named_from_the_most_weights_on() -> None:
    labels = {name: formats_label(load_model(name)) for name in list_models()}
    assert labels["gpt-oss-120b"] == "mxfp4 + bf16"
    assert labels["kimi-k2.5"] == "int4 + bf16"
    assert labels["deepseek-v3"] == "fp8_block"
    assert labels["llama-3.1-8b"] == "bf16"


def test_an_output_projection_in_another_format_stands_apart() -> None:
    parts = {part.name: part for part in breakdown(load_model("nvidia/DeepSeek-V3.1-NVFP4"))}
    assert (parts["attention"].format, parts["attention output"].format) == ("bf16", "nvfp4")
    assert parts["attention output"].elements == 58 * 128 * 128 * 7168  # the last group

"""Published configurations: counts as published, or a refusal that names the field."""

import csv
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.model import Model, load_model

IN_THE_CATALOG = {
    "deepseek-v3": "deepseek-ai--DeepSeek-V3",
    "deepseek-v3.2": "deepseek-ai--DeepSeek-V3.2",
    "gemma-2-9b": "google--gemma-2-9b",
    "gemma-3-12b": "google--gemma-3-12b-it",
    "gemma-4-31b": "nvidia--Gemma-4-31B-IT-NVFP4",
    "glm-5": "zai-org--GLM-5-FP8",
    "gpt-oss-20b": "openai--gpt-oss-20b",
    "gpt-oss-120b": "openai--gpt-oss-120b",
    "kimi-k2": "moonshotai--Kimi-K2-Instruct",
    "kimi-k2.5": "moonshotai--Kimi-K2.5",
    "llama-3.1-8b": "meta-llama--Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama--Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama--Meta-Llama-3.1-405B",
    "llama-4-maverick": "meta-llama--Llama-4-Maverick-17B-128E-Instruct",
    "minimax-m2.5": "MiniMaxAI--MiniMax-M2.5",
    "mixtral-8x7b": "mistralai--Mixtral-8x7B-v0.1",
    "nemotron-3-nano-30b-a3b": "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "qwen3-0.6b": "Qwen--Qwen3-0.6B",
    "qwen3-8b": "Qwen--Qwen3-8B",
    "qwen3-32b": "Qwen--Qwen3-32B",
    "qwen3-235b-a22b": "Qwen--Qwen3-235B-A22B",
    "qwen3-vl-30b-a3b": "Qwen--Qwen3-VL-30B-A3B-Instruct",
    "qwen3.5-397b-a17b": "Qwen--Qwen3.5-397B-A17B",
}
NOT_UNDERSTOOD = {"deepseek-ai--DeepSeek-V4-Flash_config.json": "`compress_ratios`"}


@pytest.fixture(scope="module")
def configs(shared_data: Path) -> Path:
    folder = shared_data / "configs"
    if not folder.is_dir():
        pytest.skip(f"no configurations at {folder}")
    return folder


def test_every_configuration_has_its_published_count_or_is_refused_by_field(configs: Path) -> None:
    counted = 0
    with (configs / "parameter_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            name, field = row["file"], NOT_UNDERSTOOD.get(row["file"])
            if field is not None:
                with pytest.raises(InputError, match=field):
                    load_model(configs / name)
                continue
            model, counted = load_model(configs / name), counted + 1
            if row["total_parameters"]:
                total = int(row["total_parameters"])
                active = int(row["active_parameters_incl_embeddings"])
                assert model.total_parameters == pytest.approx(total, rel=1e-3), name
                assert model.active_parameters == pytest.approx(active, rel=1e-3), name
    assert counted >= 31


@pytest.mark.parametrize("name", sorted(IN_THE_CATALOG))
def test_the_catalog_and_the_configuration_are_one_architecture(configs: Path, name: str) -> None:
    ours, theirs = load_model(name), load_model(configs / f"{IN_THE_CATALOG[name]}_config.json")
    assert set(ours.groups) == set(theirs.groups)
    for key in ("hidden_size", "vocab_size", "tied_embeddings", "mtp_parameters", "decoding"):
        assert getattr(ours, key) == getattr(theirs, key), key
    assert ours.max_context_tokens == theirs.max_context_tokens


def load(configs: Path, name: str) -> Model:
    return load_model(configs / f"{name}_config.json")


def test_published_quantised_checkpoints_are_told_by_part(configs: Path) -> None:
    deepseek = load(configs, "nvidia--DeepSeek-V3.1-NVFP4").weights
    assert (deepseek.of("attention"), deepseek.of("attention_output")) == ("bf16", "nvfp4")
    assert (deepseek.of("experts"), deepseek.kv, deepseek.mixed) == ("nvfp4", "fp8", ())
    gemma = load(configs, "nvidia--Gemma-4-31B-IT-NVFP4").weights
    assert (gemma.of("attention"), gemma.of("dense_mlp"), gemma.kv) == ("bf16", "nvfp4", "fp8")
    kimi = load(configs, "moonshotai--Kimi-K2.5").weights
    assert (kimi.of("attention"), kimi.of("shared_experts")) == ("bf16", "bf16")
    assert (kimi.of("experts"), kimi.group_elements, kimi.weight_only) == ("int4", 32, True)
    gpt = load(configs, "openai--gpt-oss-120b").weights
    assert (gpt.of("attention"), gpt.of("experts")) == ("bf16", "mxfp4")
    assert load(configs, "Qwen--Qwen3-235B-A22B-FP8").weights.layers == "fp8_block"
    assert load(configs, "nvidia--Llama-3.1-70B-Instruct-FP8").weights.kv == "fp8"


def test_a_searched_nemotron_has_49_billion_parameters_and_layers_without_attention(
    configs: Path,
) -> None:
    model = load(configs, "nvidia--Llama-3_3-Nemotron-Super-49B-v1")
    assert model.total_parameters == 49_867_145_216  # elements of the published files
    assert (model.num_layers, model.layers_with_kv) == (80, 49)

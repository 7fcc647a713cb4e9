"""The recipes are true: what they print loads."""

import json
import re
from pathlib import Path

import pytest

from sim.decoding import BlockDiffusion, Diffusion
from sim.decoding.denoise_tables import DenoiseTable
from sim.deployment import Deployment
from sim.economics.api_prices import load_api_price_list
from sim.economics.price_list import load_price_list
from sim.hardware import load_fitted, load_gpu
from sim.model import load_model
from sim.quality import QualityFile, scores_of
from sim.scenario import load_scenario, resolve
from sim.yaml_files import read_yaml, validate

TEXT = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text(encoding="utf-8")


def _recipe(tmp_path: Path, title: str, number: int = 0) -> Path:
    section = TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    path = tmp_path / "recipe.yaml"
    path.write_text(blocks[number], encoding="utf-8")
    return path


def test_the_model_of_the_recipe_has_its_published_count(tmp_path: Path) -> None:
    assert load_model(_recipe(tmp_path, "A model")).total_parameters == 405_853_388_800


def test_the_gpu_of_the_recipe_loads_and_runs_on_the_universal_roofline(tmp_path: Path) -> None:
    gpu = load_gpu(_recipe(tmp_path, "A GPU"))
    assert gpu.peak_flop_per_s("int8") == pytest.approx(2 * 154.8e12, rel=0.01)
    assert gpu.peak_flop_per_s("fp8") is None
    assert load_fitted(gpu, "vllm").origin == "assumed"


def test_the_price_list_of_the_recipe_quotes_its_price(tmp_path: Path) -> None:
    prices = load_price_list(_recipe(tmp_path, "A price list"))
    assert prices.quote("h100_sxm", "reserved").usd_per_gpu_hour == 2.10


def test_the_api_prices_of_the_recipe_bill_a_request(tmp_path: Path) -> None:
    prices = load_api_price_list(_recipe(tmp_path, "Prices of a hosted API"))
    (price,) = prices.of("openai/gpt-oss-120b")
    usd = price.usd(input_tokens=2e6, cached_input_tokens=1e6, output_tokens=1e6)
    assert usd == pytest.approx(0.15 + 0.075 + 0.60)


MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "max_position_embeddings": 32768,
}


def test_the_scenario_of_the_recipe_serves_a_model_that_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model" / "config.json").write_text(json.dumps(MIXTRAL), encoding="utf-8")
    scenario = load_scenario(_recipe(tmp_path, "A deployment"))
    assert scenario.deployment.gpus == 8
    assert resolve(scenario).model.total_parameters == 46_702_792_704


def test_the_diffusion_of_the_recipe_decodes_by_a_published_row(tmp_path: Path) -> None:
    scenario = load_scenario(_recipe(tmp_path, "Diffusion"))
    serving = resolve(scenario)
    assert scenario.decoding.mean_passes(150) == pytest.approx(8 * 32 / 2.77)
    assert not scores_of(scenario, serving.model)  # published for a prefix cache, not a dual one
    path = _recipe(tmp_path, "Diffusion", 1)
    table = validate(DenoiseTable, read_yaml(path), str(path))
    assert table.rows[0].tokens_per_pass == 2.6


def test_the_quality_of_the_recipe_loads(tmp_path: Path) -> None:
    path = _recipe(tmp_path, "Quality")
    assert len(validate(QualityFile, read_yaml(path), str(path)).rows) == 3


def test_every_key_of_a_diffusion_that_the_recipe_explains_is_one() -> None:
    section = TEXT.partition("\n## Diffusion\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", section, re.MULTILINE)
    keys = set(re.findall(r"`([a-z_]+)`", " ".join(named)))
    known = Diffusion.model_fields.keys() | BlockDiffusion.model_fields.keys()
    assert known - {"model", "what_if"} == keys


def test_every_key_of_a_deployment_that_the_recipe_explains_is_one() -> None:
    section = TEXT.partition("\n## A deployment\n")[2].partition("\n## ")[0]
    keys = set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE))
    assert {"weights", "expert_parallel", "attention_data_parallel"} <= keys
    assert keys <= Deployment.model_fields.keys()

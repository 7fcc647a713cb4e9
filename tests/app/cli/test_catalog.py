"""`list`, `show`, `schema` and `init`: what can be named, and a file to start from."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sim.scenario import Scenario

# name, published parameters, layers x KV heads x head size x (K and V) x 2 bytes
MODELS = [
    ("llama-3.1-8b", 8_030_261_248, 32 * 8 * 128 * 2 * 2),
    ("llama-3.1-70b", 70_553_706_496, 80 * 8 * 128 * 2 * 2),
    ("qwen3-32b", 32_762_123_264, 64 * 8 * 128 * 2 * 2),
]


@pytest.mark.parametrize(("name", "parameters", "kv_bytes"), MODELS)
def test_a_model_shows_its_published_parameters_and_kv_bytes(
    paretoken: Any, name: str, parameters: int, kv_bytes: int
) -> None:
    facts = json.loads(paretoken("show", "model", name, "--json").out)
    assert facts["total_parameters"] == facts["active_parameters"] == parameters
    assert facts["kv_bytes_per_token"] == kv_bytes


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("models", {"llama-3.1-8b", "llama-3.1-70b", "qwen3-32b"}),
        ("hardware", {"a100_sxm_80gb", "h100_sxm", "h200_sxm", "b200_sxm"}),
        ("workloads", {"azure-conv-2023"}),
        ("scenarios", {"chat-70b-h100", "bench-8b-a100"}),
        ("prices", {"runpod", "aws"}),
    ],
)
def test_a_list_names_everything_in_text_and_in_json(
    paretoken: Any, kind: str, names: set[str]
) -> None:
    answered = paretoken("list", kind)
    assert (answered.code, answered.err) == (0, "")
    assert not [name for name in names if name not in answered.out]
    facts = json.loads(paretoken("list", kind, "--json").out)[kind]
    assert {row.get("name", row.get("list")) for row in facts} >= names


def test_hardware_shows_each_figure_with_its_source(paretoken: Any) -> None:
    facts = json.loads(paretoken("show", "hardware", "h100_sxm", "--json").out)
    assert facts["memory_bandwidth_bytes_per_s"]["value"] == pytest.approx(3.35e12)
    assert facts["memory_bandwidth_bytes_per_s"]["source"].startswith("https://")
    assert "3.35 T" in paretoken("show", "hardware", "h100_sxm").out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_workload_shows_its_statistics(paretoken: Any, options: tuple[str, ...]) -> None:
    shown = yaml.safe_load(paretoken("show", "workload", "azure-conv-2023", *options).out)
    assert shown["measured_arrivals"]["requests"] == 19_366  # rows of the published trace


def test_a_scenario_is_shown_with_every_default_written_out(paretoken: Any) -> None:
    shown = yaml.safe_load(paretoken("show", "scenario", "small.yaml").out)
    assert shown["deployment"]["memory_fraction"] == 0.9
    assert Scenario.model_validate(shown).name == "small"


def test_the_schema_is_json_schema_that_knows_every_key_of_a_scenario(paretoken: Any) -> None:
    schema = json.loads(paretoken("schema").out)
    assert schema["properties"].keys() == Scenario.model_fields.keys()
    assert schema["additionalProperties"] is False


def test_the_starter_is_commented_and_runs_as_it_is(paretoken: Any, tmp_path: Path) -> None:
    answered = paretoken("init", "mine")
    assert (answered.code, answered.err) == (0, "")
    text = (tmp_path / "mine.yaml").read_text("utf-8")
    assert text.count("#") > 20
    assert yaml.safe_load(text)["name"] == "mine"
    assert paretoken("run", "mine.yaml", "--set", "run.requests=200").code == 0


def test_init_never_overwrites_a_file(paretoken: Any, tmp_path: Path) -> None:
    before = (tmp_path / "small.yaml").read_text("utf-8")
    answered = paretoken("init", "small")
    assert answered.code == 2
    assert "stays as it is" in answered.err
    assert (tmp_path / "small.yaml").read_text("utf-8") == before


def test_every_choice_that_the_starter_comments_out_is_valid(
    paretoken: Any, tmp_path: Path
) -> None:
    paretoken("init", "mine")
    for change in (
        "workload.arrivals={kind: closed_loop, users: 64}",
        "slo.max_gap_ms=500",
        "slo.ttft_p99_ms=1500",
        "prices={usd_per_gpu_hour: 2.10, source: our contract of November, as_of: 2026-11}",
        "deployment.num_gpu_blocks=20000",
        "decoding={name: speculative, draft_tokens: 1, survival: [0.7], draft: {work_share: 0.1}}",
    ):
        answered = paretoken("run", "mine.yaml", "--set", "run.requests=100", "--set", change)
        assert answered.code != 2, answered.err


@pytest.mark.parametrize("name", ["42", "true", "a: b", "a # b", "é", 'quote"d'])
def test_the_file_of_init_holds_any_name_as_text(
    paretoken: Any, tmp_path: Path, name: str
) -> None:
    assert paretoken("init", name).code == 0
    text = (tmp_path / f"{name}.yaml").read_text("utf-8")
    assert yaml.safe_load(text)["name"] == name
    assert paretoken("show", "scenario", f"{name}.yaml").code == 0


@pytest.mark.parametrize("name", ["", ".", "..", ".yaml"])
def test_init_refuses_what_is_no_name(paretoken: Any, tmp_path: Path, name: str) -> None:
    answered = paretoken("init", name)
    assert (answered.code, answered.out) == (2, "")
    assert "is no name" in answered.err
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]

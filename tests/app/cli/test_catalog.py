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
        ("api-prices", {"groq", "deepinfra"}),
        ("engines", {"generic", "vllm", "sglang", "trtllm"}),
        ("acceptance", {"eagle3-qwen3", "mtp-deepseek-v3"}),
    ],
)
def test_a_list_names_everything_in_text_and_in_json(
    paretoken: Any, kind: str, names: set[str]
) -> None:
    answered = paretoken("list", kind)
    assert (answered.code, answered.err) == (0, "")
    assert not [name for name in names if name not in answered.out]
    facts = json.loads(paretoken("list", kind, "--json").out)[kind.replace("-", "_")]
    assert {row.get("name", row.get("list")) for row in facts} >= names
    assert max(map(len, answered.out.splitlines())) <= 80


def listed(paretoken: Any, *words: str) -> Any:
    """The rows of a list as JSON."""
    return json.loads(paretoken("list", *words, "--json").out)[words[0].replace("-", "_")]


@pytest.mark.parametrize(
    ("kind", "word", "names"),
    [
        ("models", "qwen2.5", {"qwen2.5-7b", "qwen2.5-72b"}),
        ("models", "meta-llama/Llama-3.2", {"llama-3.2-1b", "llama-3.2-3b"}),  # by alias
        ("models", "qwen3-8b", {"qwen3-8b"}),
        ("models", "W4A16", {"llama-3.1-8b"}),  # a quantised checkpoint of it
        ("hardware", "l4", {"l4"}),  # not l40s
        ("hardware", "mi3", {"mi300x", "mi325x", "mi355x"}),
        ("scenarios", "chat", {"chat-70b-h100"}),
        ("workloads", "conv", {"azure-conv-2023"}),
        ("acceptance", "deepseek-v3", {"mtp-deepseek-v3"}),  # by the served model
        ("acceptance", "ngram", {"ngram-llama-4-scout"}),  # by the drafter
        ("engines", "vllm", {"vllm"}),
    ],
)
def test_a_word_narrows_a_list(paretoken: Any, kind: str, word: str, names: set[str]) -> None:
    assert {row["name"] for row in listed(paretoken, kind, word)} == names


def test_a_word_that_nothing_has_is_answered_with_what_to_do(paretoken: Any) -> None:
    answered = paretoken("list", "prices", "tpu")
    assert (answered.code, answered.out) == (2, "")
    assert answered.err.count("\n") == 1
    assert "paretoken list prices" in answered.err


def test_prices_of_a_gpu_stand_side_by_side_the_cheapest_first(paretoken: Any) -> None:
    rows = listed(paretoken, "prices", "h100_sxm")
    usd = [row["usd_per_gpu_hour"] for row in rows]
    assert {row["gpu"] for row in rows} == {"h100_sxm"}
    assert len({row["list"] for row in rows}) > 5
    assert usd == sorted(usd)
    shown = paretoken("list", "prices", "h100_sxm").out
    assert "$2.79" in shown
    assert "https://" in shown  # sources
    assert {row["list"] for row in listed(paretoken, "prices", "lambda")} == {"lambda"}


def test_hardware_shows_what_its_hours_cost_from_the_lowest_to_the_highest(paretoken: Any) -> None:
    (row,) = listed(paretoken, "hardware", "h100_sxm")
    asked = [
        terms["on_demand"] for terms in row["usd_per_gpu_hour"].values() if "on_demand" in terms
    ]
    assert f"{min(asked):.2f}–{max(asked):.2f}" in paretoken("list", "hardware", "h100_sxm").out
    assert row["usd_per_gpu_hour"]["runpod"]["on_demand"] == 2.79


def test_api_prices_of_a_model_are_found_by_its_name_in_the_catalog(paretoken: Any) -> None:
    rows = listed(paretoken, "api-prices", "deepseek-v3")
    assert {row["model"].partition("/")[0] for row in rows} == {"deepseek-ai"}
    assert {row["list"] for row in listed(paretoken, "api-prices", "gpt-oss")} >= {"groq"}


def test_a_price_list_is_shown_by_its_name_or_its_file(paretoken: Any, tmp_path: Path) -> None:
    both = json.loads(paretoken("show", "prices", "crusoe", "--json").out)
    assert both["prices"]
    assert both["api_prices"]
    (tmp_path / "ours.yaml").write_text(
        "provider: ours\nprices:\n  - {gpu: h100_sxm, term: reserved, usd_per_gpu_hour: 2.1,"
        " instance: 8x, gpus_per_instance: 8, source: a quotation, as_of: 2026-11}\n",
        encoding="utf-8",
    )
    assert "$2.10" in paretoken("show", "prices", "ours.yaml").out
    assert paretoken("show", "prices", "nobody").code == 2


def test_a_model_of_the_users_own_is_shown_part_by_part(paretoken: Any, tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "vocab_size": 128256,
        "tie_word_embeddings": True,
        "max_position_embeddings": 131072,
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for reference in ("mine", "mine/config.json"):
        facts = json.loads(paretoken("show", "model", reference, "--json").out)
        assert facts["total_parameters"] == 1_235_814_400  # Llama 3.2 1B
        assert sum(part["parameters"] for part in facts["parameters"]) == 1_235_814_400
    shown = paretoken("show", "model", "mine").out
    assert "embeddings and head" in shown
    assert "GQA 32/8 x 64" in shown
    config["attention_over_what"] = 7
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    refused = paretoken("show", "model", "mine")
    assert (refused.code, refused.out) == (2, "")
    assert "`attention_over_what`" in refused.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deepseek-v3.2", ("routed experts", "keys of the indexer", "MTP layers", "fp8_block")),
        ("qwen3-vl-30b-a3b", ("vision encoder", "router")),
        ("qwen3-next-80b-a3b", ("recurrent", "states, fp32", "shared experts")),
        ("gpt-oss-120b", ("mxfp4", "128 tokens", "stored as mxfp4 + bf16 in 65.2 GB")),
    ],
)
def test_the_page_of_a_model_names_each_of_its_parts(
    paretoken: Any, name: str, words: tuple[str, ...]
) -> None:
    shown = paretoken("show", "model", name).out
    assert not [word for word in words if word not in " ".join(shown.split())]
    assert max(map(len, shown.splitlines())) <= 80


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
    assert shown["deployment"]["block_tokens"] == 16
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
        "deployment.weights=checkpoint",
        "deployment.pipeline_parallel=1",
        "deployment.attention_data_parallel=1",
        "deployment.expert_parallel=1",
        "deployment.expert_skew=0",
        "deployment.compute=fp8",
        "deployment.checkpoint_gb=16.1",
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


def test_scores_of_one_format_are_told_apart_by_how_they_were_quantised(paretoken: Any) -> None:
    shown = paretoken("list", "quality", "qwen3-8b").out
    # AngelSlim gives fp8 with static and with dynamic scales, int4 by GPTQ and by AWQ
    assert all(method in shown for method in ("static", "dynamic", "gptq", "awq"))
    rows = [line for line in shown.splitlines() if line.startswith("qwen3-8b")]
    assert len({row.split(" MMLU")[0] for row in rows if "MMLU" in row}) == 5
    assert max(map(len, shown.splitlines())) <= 80

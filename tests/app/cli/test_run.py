"""`paretoken run`: the answer, the JSON object, the files, the exit code."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from app.cli.run import _warn_of_length
from sim.scenario import load_scenario

LATENCIES = {"engine_ttft_ms", "ttft_ms", "tpot_ms", "itl_ms", "max_gap_ms", "ttlt_ms"}
OF_A_LATENCY = {"mean", "p50", "p90", "p99", "interval_mean", "interval_p99"}
PARQUET = [
    *("request_id", "class", "replica", "arrival_s", "admitted_s", "first_token_s"),
    *("last_token_s", "input_tokens", "cached_input_tokens", "output_tokens", "status"),
    *("preemptions", "ttft_s", "tpot_s", "max_gap_s", "ttlt_s"),
]


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [x for part in value.values() for x in numbers(part)]
    if isinstance(value, list):
        return [x for part in value for x in numbers(part)]
    return [value] if isinstance(value, float) else []


@pytest.fixture
def document(paretoken: Any) -> Any:
    answered = paretoken("run", "small.yaml", "--json")
    assert (answered.code, answered.err) == (0, "")
    return json.loads(answered.out)


def test_the_answer_comes_first_and_holds_rate_money_targets_and_bound(paretoken: Any) -> None:
    answered = paretoken("run", "small.yaml")
    first = " ".join(answered.out.partition("\nllama")[0].split())
    # 2 USD an hour for 730 hours
    assert first.startswith("1 × H100 serves 4 requests/s of small for $1,460 a month: 100%")
    assert "TTFT p99" in first
    assert first.endswith("bound by memory bandwidth.")
    assert answered.code == 0


def test_every_table_that_was_promised_is_there(paretoken: Any) -> None:
    answered = paretoken("run", "small.yaml")
    for title in (
        *("Latency", "Throughput", "Targets", "Where the time to the first token goes"),
        *("Use of the GPUs", "Cost", "Origin of the numbers", "Not modelled"),
    ):
        assert f"\n{title}\n" in answered.out


def test_a_file_gets_plain_text_of_eighty_columns(paretoken: Any) -> None:
    answered = paretoken("run", "small.yaml")
    assert "\x1b" not in answered.out
    assert max(len(line) for line in answered.out.splitlines()) <= 80
    assert not [line for line in answered.out.splitlines() if line.endswith(" ")]


def test_json_has_the_promised_keys(document: Any) -> None:
    assert document["status"] == "ok"
    assert document["requests"].keys() >= {"offered", "finished", "rejected", "unfinished"}
    assert document["latency"].keys() == LATENCIES
    assert all(summary.keys() >= OF_A_LATENCY for summary in document["latency"].values())
    assert document["throughput"].keys() >= {
        *("requests_per_s", "input_tokens_per_s", "output_tokens_per_s"),
        *("output_tokens_per_s_per_gpu", "user_tokens_per_s"),
    }
    assert document["slo"].keys() >= {"attainment", "goodput_requests_per_s"}
    assert document["utilisation"].keys() >= {"busy", "mbu", "mfu", "kv_peak", "bound"}
    assert document["cost"].keys() >= {
        *("usd_per_hour", "usd_per_month", "usd_per_million_input_tokens", "idle_share"),
        *("usd_per_million_output_tokens", "usd_per_million_output_tokens_all_in"),
        "usd_per_request",
    }
    assert document["littles_law"].keys() == {"lhs", "rhs"}
    assert {"origin", "source", "error"} == set(document["provenance"]["kernels"])
    assert all({"stage", "mean_ms", "origin"} == set(stage) for stage in document["waterfall"])
    assert document["not_modelled"]


def test_json_holds_no_number_that_is_none(document: Any) -> None:
    assert all(math.isfinite(value) for value in numbers(document))


def test_the_waterfall_adds_up_to_the_mean_ttft(document: Any) -> None:
    stages = sum(stage["mean_ms"] for stage in document["waterfall"])
    assert stages == pytest.approx(document["latency"]["ttft_ms"]["mean"], rel=1e-9)


def test_the_bill_is_the_price_times_the_hours_and_its_parts_add_up(document: Any) -> None:
    cost = document["cost"]
    assert cost["usd_per_month"] == pytest.approx(2.0 * 730)
    assert cost["input_share"] + cost["output_share"] + cost["idle_share"] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(paretoken: Any) -> None:
    first, again = (paretoken("run", "small.yaml", "--json").out for _ in range(2))
    assert first == again
    assert paretoken("run", "small.yaml", "--json", "--seed", "1").out != first


def test_without_a_price_there_is_no_cost(paretoken: Any, tmp_path: Path) -> None:
    content = yaml.safe_load((tmp_path / "small.yaml").read_text("utf-8"))
    del content["prices"]
    (tmp_path / "free.yaml").write_text(yaml.safe_dump(content), "utf-8")
    assert json.loads(paretoken("run", "free.yaml", "--json").out)["cost"] is None
    answered = paretoken("run", "free.yaml")
    assert "$" not in answered.out
    assert (answered.code, answered.err) == (0, "")


def test_too_few_requests_withhold_the_p99_in_words_and_in_json(paretoken: Any) -> None:
    few = ("run", "small.yaml", "--set", "run.requests=50")
    assert json.loads(paretoken(*few, "--json").out)["latency"]["ttft_ms"]["p99"] is None
    answered = paretoken(*few)
    assert "too few requests for a p99" in " ".join(answered.out.split())


def test_a_missed_target_is_exit_code_1(paretoken: Any) -> None:
    answered = paretoken("run", "small.yaml", "--set", "slo.ttft_ms=1")
    assert answered.code == 1
    assert "0% of requests inside the targets" in " ".join(answered.out.split())
    assert "missed" in answered.out


def test_overload_is_said_first_with_the_rate_that_is_sustained(paretoken: Any) -> None:
    overload = ("run", "small.yaml", "--set", "workload.arrivals.requests_per_s=1000")
    answered = paretoken(*overload)
    assert answered.code == 1
    assert answered.out.startswith("Overloaded: 1 × H100 cannot sustain 1,000 requests/s of small")
    latency = answered.out.partition("\nLatency\n")[2].partition("\n\n")[0]
    assert not any(letter.isdigit() for row in latency.splitlines()[2:8] for letter in row)
    document = json.loads(paretoken(*overload, "--json").out)
    assert document["status"] == "overloaded"
    assert 4 < document["sustainable_requests_per_s"] < 1000
    assert document["latency"]["ttft_ms"]["p99"] is None


def test_the_folder_holds_what_the_screen_says(paretoken: Any, tmp_path: Path) -> None:
    answered = paretoken("run", "small.yaml", "--json", "--out", "results/of today")
    folder = tmp_path / "results" / "of today"
    names = {"outcome.json", "report.md", "requests.parquet", "costs.csv", "scenario.yaml"}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "outcome.json").read_text("utf-8") == answered.out
    costs = (folder / "costs.csv").read_text("utf-8").splitlines()
    assert costs[0] == "item,usd_per_hour,usd_per_month,share"
    assert [row.partition(",")[0] for row in costs[1:]] == ["input", "output", "idle", "total"]


def test_the_scenario_that_was_written_gives_the_same_answer(paretoken: Any) -> None:
    change = ("--set", "deployment.max_sequences=32", "--seed", "7")
    first = paretoken("run", "small.yaml", *change, "--json", "--out", "first").out
    assert paretoken("run", "first/scenario.yaml", "--json").out == first


def test_percentiles_of_the_parquet_file_are_those_of_the_json(
    paretoken: Any, tmp_path: Path
) -> None:
    pipeline = ("--set", "pipeline.network_rtt_ms=30")
    document = json.loads(paretoken("run", "small.yaml", *pipeline, "--json", "--out", "o").out)
    table = pq.read_table(tmp_path / "o" / "requests.parquet")
    assert table.column_names == PARQUET
    assert len(table) == document["requests"]["offered"]
    for name in ("ttft", "tpot", "max_gap", "ttlt"):
        column = table[f"{name}_s"].drop_null().to_numpy()
        latency = document["latency"][f"{name}_ms"]
        assert np.quantile(column, 0.99) * 1e3 == pytest.approx(latency["p99"], rel=1e-9)
        assert column.mean() * 1e3 == pytest.approx(latency["mean"], rel=1e-9)
    assert set(table["status"].to_pylist()) == {"finished"}


def test_a_trace_replaces_the_workload(paretoken: Any, tmp_path: Path) -> None:
    rows = [f"{index / 2},{100 + index % 7},{20 + index % 3}" for index in range(40)]
    text = "\n".join(["arrival_s,input_tokens,output_tokens", *rows])
    (tmp_path / "mine.csv").write_text(text, "utf-8")
    document = json.loads(paretoken("run", "small.yaml", "--trace", "mine.csv", "--json").out)
    assert document["requests"]["offered"] == len(rows)


CLASSES = "[{name: chat, share: 0.5}, {name: code, share: 0.5}]"


@pytest.mark.parametrize(
    ("third", "declared", "refused"),
    [("chta", CLASSES, True), ("chta", "null", False), ("chat", CLASSES, False)],
)
def test_a_class_of_a_trace_that_the_workload_does_not_have_is_refused(
    paretoken: Any, tmp_path: Path, third: str, declared: str, *, refused: bool
) -> None:
    rows = ["arrival_s,input_tokens,output_tokens,class", "0,9,9,chat", "1,9,9,code"]
    (tmp_path / "mine.csv").write_text("\n".join([*rows, f"2,9,9,{third}"]), "utf-8")
    declare = ("--set", f"workload.classes={declared}")
    answered = paretoken("run", "small.yaml", "--trace", "mine.csv", *declare)
    assert (answered.code == 2) is refused  # 1: too few requests to say yes
    if refused:
        assert "`chta`" in answered.err
        assert "did you mean chat?" in answered.err


@pytest.mark.parametrize("place", ["small.yaml", "small.yaml/below"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_run(
    paretoken: Any, place: str
) -> None:
    answered = paretoken("run", "small.yaml", "--out", place)
    assert (answered.code, answered.out) == (2, "")
    assert "is a file, not a folder" in answered.err


def test_a_very_long_run_is_announced_before_it_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _warn_of_length(load_scenario("chat-70b-h100", ["run.requests=1000000"]))
    assert capsys.readouterr().err == ""
    _warn_of_length(load_scenario("chat-70b-h100", ["run.requests=100000000"]))
    # 1e8 / 5,000 a second = 20,000 s; 1e8 x 1,000 B.
    said = "100,000,000 requests take about 6 hours and 100 GB of memory"
    assert said in capsys.readouterr().err


def test_a_block_with_more_passes_than_tokens_has_a_note(paretoken: Any) -> None:
    strategy = "{name: block_diffusion, block_tokens: 8, denoise_passes: 16, what_if: true}"
    options = ("--set", f"decoding={strategy}", "--set", "run.requests=100")
    answered = paretoken("run", "small.yaml", *options, "--json")
    notes = json.loads(answered.out)["notes"]
    assert any(note.startswith("a block of 8 tokens takes 16 denoise passes") for note in notes)

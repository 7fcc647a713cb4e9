"""`paretoken frontier`: the strategies at a ladder of user speeds, as text, JSON and files."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.cli import frontier as command
from sim.planning import Frontier, frontier
from sim.scenario import load_scenario

STRATEGIES = """
strategies:
  - {name: autoregressive}
  - name: speculative
    draft_tokens: 3
    conditional_acceptance: [0.7, 0.65, 0.6]
    draft: {work_share: 0.14}
"""
COLUMNS = [
    *("strategy", "hardware", "tensor_parallel", "replicas", "requests_per_s", "users"),
    *("user_tokens_per_s", "output_tokens_per_s_per_gpu", "output_tokens_per_usd"),
    *("ttft_p99_ms", "max_gap_p99_ms", "status", "note"),
]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Frontier:
    """A frontier of few points: what is tested here is what is said of it."""
    path = tmp_path_factory.mktemp("frontier") / "two.yaml"
    path.write_text(
        "model: llama-3.1-8b\nhardware: h100_sxm\ndeployment: {max_sequences: 16}\n"
        "workload:\n  arrivals: {kind: poisson, requests_per_s: 4}\n"
        "  input_tokens: {kind: uniform, low: 200, high: 800}\n"
        "  output_tokens: {kind: uniform, low: 32, high: 96}\n"
        "slo: {ttft_ms: 1000}\nprices: {list: runpod}\n" + STRATEGIES,
        "utf-8",
    )
    return frontier(load_scenario(path), points=4, requests=100, workers=1)


@pytest.fixture
def paretoken_frontier(paretoken: Any, swept: Frontier, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(command, "frontier", lambda *_, **__: swept)
    return lambda *options: paretoken("frontier", "small.yaml", *options)


def test_the_answer_names_the_best_strategy_and_the_speeds(paretoken_frontier: Any) -> None:
    answered = paretoken_frontier()
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("two: ")
    assert "\nOutput tokens/s per GPU\n" in answered.out
    assert "\nOutput tokens per dollar\n" in answered.out
    assert max(len(line) for line in answered.out.splitlines()) <= 80


def test_the_ladder_marks_the_most_on_every_rung(paretoken_frontier: Any, swept: Frontier) -> None:
    rungs = json.loads(paretoken_frontier("--json").out)["ladder"]
    assert rungs
    for rung in rungs:
        reached = {k: v for k, v in rung["output_tokens_per_s_per_gpu"].items() if v is not None}
        assert rung["winner"] == max(reached, key=reached.__getitem__)
        baseline = reached.get(swept.baseline)
        for name, value in reached.items():
            assert baseline is None or rung["ratio"][name] == pytest.approx(value / baseline)


def test_the_folder_holds_a_tidy_table_and_a_page_that_needs_no_network(
    paretoken_frontier: Any, tmp_path: Path
) -> None:
    paretoken_frontier("--out", "there")
    with (tmp_path / "there" / "frontier.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == COLUMNS
    assert len(rows) == 1 + 2 * 4  # two strategies at four loads
    page = (tmp_path / "there" / "frontier.html").read_text("utf-8")
    assert "tokens/s per user" in page
    assert "<script src" not in page
    assert "<link" not in page


def test_the_page_is_the_same_bytes_each_time(paretoken_frontier: Any, tmp_path: Path) -> None:
    pages = []
    for folder in ("one", "two"):
        paretoken_frontier("--out", folder)
        pages.append((tmp_path / folder / "frontier.html").read_bytes())
    assert pages[0] == pages[1]


def test_an_interrupted_sweep_shows_what_it_has_and_exits_with_130(
    paretoken: Any, swept: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = replace(swept, points=swept.points[:4], complete=False)
    monkeypatch.setattr(command, "frontier", lambda *_, **__: half)
    answered = paretoken("frontier", "small.yaml")
    assert answered.code == 130
    assert "Output tokens/s per GPU" in answered.out
    assert "Stopped early" in answered.out
    assert answered.err == "paretoken: Interrupted.\n"


def test_nothing_inside_the_targets_is_the_answer_no(
    paretoken: Any, swept: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = tuple(replace(point, status="misses target") for point in swept.points)
    monkeypatch.setattr(command, "frontier", lambda *_, **__: replace(swept, points=missed))
    answered = paretoken("frontier", "small.yaml")
    assert answered.code == 1
    assert answered.out.startswith("two: No strategy meets the targets at any load.")


def test_the_width_of_tensor_parallelism_stands_beside_the_figure_where_it_varies(
    paretoken: Any, swept: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    wider = tuple(replace(point, tensor_parallel=2) for point in swept.points)
    both = replace(swept, points=(*swept.points, *wider))
    monkeypatch.setattr(command, "frontier", lambda *_, **__: both)
    assert "TP1" in paretoken("frontier", "small.yaml").out


@pytest.mark.parametrize("widths", ["two", "1;2", ""])
def test_widths_that_are_no_numbers_are_refused(paretoken: Any, widths: str) -> None:
    answered = paretoken("frontier", "small.yaml", "--tensor-parallel", widths)
    assert (answered.code, answered.out) == (2, "")
    assert "--tensor-parallel 1,2,4" in answered.err


def test_a_width_beyond_the_bounds_is_refused(paretoken: Any) -> None:
    answered = paretoken("frontier", "small.yaml", "--tensor-parallel", "128")
    assert (answered.code, answered.out) == (2, "")
    assert answered.err.count("\n") == 1


def test_where_no_load_meets_the_targets_the_answer_says_so_and_why(
    paretoken: Any, tmp_path: Path
) -> None:
    (tmp_path / "hard.yaml").write_text(
        "model: llama-3.1-8b\nhardware: h100_sxm\ndeployment: {max_sequences: 2}\n"
        "workload:\n  arrivals: {kind: poisson, requests_per_s: 4}\n"
        "  input_tokens: {kind: fixed, tokens: 200}\n"
        "  output_tokens: {kind: fixed, tokens: 8}\n"
        "slo: {ttft_ms: 0.1}\n",
        "utf-8",
    )
    answered = paretoken("frontier", "hard.yaml", "--quick")
    assert answered.code == 1
    said = " ".join(answered.out.split())
    assert "hard: No strategy meets the targets at any load." in said
    assert "1 misses ttft kept by 0.0% of the requests, 99.0% asked" in said
    assert "tokens/s per user" not in said.partition("What is assumed")[0]

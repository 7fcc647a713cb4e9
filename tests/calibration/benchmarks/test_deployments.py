"""What a file tells of its deployment: simulated as told, or said where it is not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.benchmarks import is_benchmark, read_file, validate_benchmark
from calibration.validate import validate_file
from sim.errors import InputError
from sim.scenario import build_scenario

SUITE: dict[str, Any] = {
    "hw": "h100-cr_0", "conc": 4, "model": "llama-3.1-8b", "framework": "vllm",
    "precision": "fp8", "spec_decoding": "none", "disagg": False, "isl": 512, "osl": 64,
    "tp": 2, "ep": 1, "dp_attention": False, "tput_per_gpu": 9.0, "mean_ttft": 0.02,
    "mean_tpot": 0.004,
}  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(content: Any, name: str = "agg.json") -> Path:
        path = tmp_path / name
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
        return path

    return write


def test_a_run_of_the_suite_is_predicted_alike_as_json_and_as_a_row_of_the_table(
    written: Callable[..., Path], runs_file: Callable[..., Path], row: Callable[..., str]
) -> None:
    cells = {
        "weights": "fp8", "tensor_parallel": 2, "concurrency": 4, "input_tokens": 512,
        "output_tokens": 64, "ttft_ms": 20, "tpot_ms": 4,
    }  # fmt: skip
    (of_row,) = validate_file(runs_file(row(**cells))).compared
    (of_json,) = validate_benchmark(written(SUITE)).compared
    figures = of_json.predicted.figures
    # 40 lengths: spread evenly there, drawn here; their mean differs by 2 % (standard error)
    assert figures["tpot_mean_ms"] == pytest.approx(of_row.predicted.tpot_ms, rel=0.02)
    assert figures["ttft_mean_ms"] == pytest.approx(of_row.predicted.ttft_ms, rel=0.1)


def test_a_server_that_speculated_is_not_simulated_without(written: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="the server speculated; give a scenario with `decoding"):
        validate_benchmark(written({**SUITE, "spec_decoding": "mtp"}))


def test_where_scenario_and_file_differ_it_is_said(written: Callable[..., Path]) -> None:
    facts: dict[str, Any] = {
        "name": "small", "model": "llama-3.1-8b", "hardware": "h200_sxm", "engine": "sglang",
        "workload": {"arrivals": {"kind": "closed_loop", "users": 3},
                     "input_tokens": {"kind": "fixed", "tokens": 100},
                     "output_tokens": {"kind": "fixed", "tokens": 20}},
    }  # fmt: skip
    scenario = build_scenario(facts, where="the test", folder=Path())
    notes = validate_benchmark(written(SUITE), scenario=scenario).notes
    assert "the file names h100_sxm; simulated was h200_sxm" in notes
    assert "the file names vllm; simulated was sglang" in notes
    assert "the file names tensor_parallel 2; simulated was 1" in notes
    assert not [note for note in notes if "llama" in note or "expert" in note]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("Concurrency,Inferences/Second,p50 latency\n1,69.2,13891\n", "Triton's perf_analyzer"),
        ("Type,Name,Median\nGET,/,20\n", "found `Type`, `Name`, `Median`"),
        ("case;model;gpu\na;b;c\n", "separated by semicolons"),
    ],
)
def test_a_table_of_another_kind_is_named_whatever_the_scenario(
    written: Callable[..., Path], table: str, problem: str
) -> None:
    path = written(table, "table.csv")
    assert is_benchmark(path)
    with pytest.raises(InputError, match=problem):
        read_file(path, "mean")


def test_a_table_that_was_cut_at_its_end_is_noted(written: Callable[..., Path]) -> None:
    head = "requests_per_s,input_tokens,output_tokens,num_prompts,model,gpu,ttft_ms"
    line = "4,64,8,20,llama-3.1-8b,h100_sxm,20"
    whole = validate_benchmark(written(f"{head}\n{line}\n", "open.csv"))
    cut = validate_benchmark(written(f"{head}\n{line}", "open.csv"))
    assert len(cut.notes) == len(whole.notes) + 1
    assert "does not end with a line break" in cut.notes[0]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"isl": 1e-9}, "prompts of 1e-09 tokens"),
        ({"osl": 1e30}, r"answers of 1e\+30 tokens"),
        ({"conc": 10**12}, r"requests: at most 10,000,000 can be simulated"),
    ],
)
def test_figures_beyond_any_benchmark_are_refused_and_take_no_memory(
    written: Callable[..., Path], changes: dict[str, float], problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        validate_benchmark(written({**SUITE, **changes}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"request_rate": 1e-300}, "rate of 1e-300"),
        ({"burstiness": 1e-300}, "burstiness of 1e-300"),
    ],
)
def test_a_load_that_is_none_is_refused(
    written: Callable[..., Path], keys: dict[str, float], problem: str
) -> None:
    run = {
        "model_id": "m", "num_prompts": 10, "request_rate": 2.0, "completed": 10,
        "input_len": 100, "output_len": 10, "mean_ttft_ms": 3.0, **keys,
    }  # fmt: skip
    with pytest.raises(InputError, match=problem):
        validate_benchmark(written(run))


@pytest.mark.parametrize("count", [float("inf"), float("nan"), "many"])
def test_a_count_that_is_none_crashes_nothing(written: Callable[..., Path], count: object) -> None:
    run = {
        "model_id": "m", "num_prompts": 10, "request_rate": "inf", "completed": count,
        "input_len": 100, "output_len": 10, "mean_ttft_ms": 3.0,
    }  # fmt: skip
    with pytest.raises(InputError):
        validate_benchmark(written(run))


def test_the_drafter_of_a_scenario_takes_its_time(written: Callable[..., Path]) -> None:
    def gap_ms(host_us: float) -> float:
        draft = {"kind": "eagle", "version": 3, "host_us_per_pass": host_us}
        scenario = build_scenario(
            {"name": "drafted", "model": "llama-3.1-8b", "hardware": "h100_sxm",
             "decoding": {"name": "speculative", "draft_tokens": 2, "acceptance_rate": 0.5,
                          "draft": draft},
             "workload": {"arrivals": {"kind": "closed_loop", "users": 1},
                          "input_tokens": {"kind": "fixed", "tokens": 9},
                          "output_tokens": {"kind": "fixed", "tokens": 9}}},
            where="here", folder=Path(),
        )  # fmt: skip
        (row,) = validate_benchmark(
            written({**SUITE, "spec_decoding": "mtp"}), scenario=scenario
        ).compared
        return row.predicted.figures["tpot_mean_ms"]

    # two passes of the drafter a round, and 1 + 0.5 + 0.25 tokens
    assert gap_ms(3000) - gap_ms(1000) == pytest.approx(2 * 2 / 1.75, rel=0.05)

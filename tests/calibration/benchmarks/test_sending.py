"""Over which time requests at a rate are replayed, and that a note tells it."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration.benchmarks import validate_benchmark
from calibration.benchmarks.drive import sending
from calibration.importers import Benchmark, Lengths
from calibration.importers.vllm import no_numbers
from sim.scenario import build_scenario

RUN = Benchmark(
    case="a",
    tool="vllm",
    inputs=Lengths(256.0),
    outputs=Lengths(101.0),
    prompts=40,
    figures={"ttft_mean_ms": 50.0, "tpot_mean_ms": 10.0},
    requests_per_s=4.0,
    duration_s=11.0,
)
"""40 requests at 4/s take 10 s; the last answer 50 + 100 x 10 = 1,050 ms."""


@pytest.mark.parametrize(
    ("run", "lasting_s", "why"),
    [
        (RUN, 11 - 1.05, "duration less one latency"),
        (replace(RUN, duration_s=None), 10, "tells no duration"),
        (replace(RUN, duration_s=20.0), 10, "over 30% off"),
        (replace(RUN, figures={"ttft_mean_ms": 50.0}), 10, "no TTFT or no TPOT"),
        (replace(RUN, figures={"ttft_mean_ms": 500.0, "tpot_mean_ms": 10.0}), 10, "a queue"),
    ],
)
def test_the_time_of_sending_comes_with_its_reason(
    run: Benchmark, lasting_s: float, why: str
) -> None:
    found_s, reason = sending(run, 10.0)
    assert found_s == pytest.approx(lasting_s)
    assert why in reason


def test_a_median_stands_in_for_a_mean_that_is_no_number() -> None:
    run = replace(RUN, figures={"ttft_mean_ms": 50.0, "tpot_median_ms": 10.0})
    assert sending(run, 10.0)[0] == pytest.approx(11 - 1.05)


@pytest.mark.parametrize("value", [math.nan, "nan", math.inf])
def test_a_figure_that_is_no_number_is_named(value: object) -> None:
    (note,) = no_numbers({"mean_tpot_ms": value, "p99_tpot_ms": 3.0}, {"tpot": "tpot"})
    assert note.startswith("`mean_tpot_ms` is ")


@pytest.mark.parametrize("value", [None, "", "n/a", 0, 0.0, 12.5])
def test_what_is_absent_or_a_number_needs_no_note(value: object) -> None:
    assert no_numbers({"mean_tpot_ms": value}, {"tpot": "tpot"}) == ()


def test_notes_name_the_replay_and_the_lost_figure(tmp_path: Path) -> None:
    facts: dict[str, Any] = {
        "name": "small",
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "workload": {
            "arrivals": {"kind": "poisson", "requests_per_s": 4},
            "input_tokens": {"kind": "fixed", "tokens": 256},
            "output_tokens": {"kind": "fixed", "tokens": 101},
        },
        "run": {"requests": 40},
    }
    document = {
        "num_prompts": 40, "completed": 40, "request_rate": 4.0, "duration": 11.0,
        "total_input_tokens": 40 * 256, "total_output_tokens": 40 * 101,
        "mean_ttft_ms": 50.0, "mean_tpot_ms": math.nan, "median_tpot_ms": 10.0,
    }  # fmt: skip
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    scenario = build_scenario(facts, where="the test", folder=tmp_path)
    notes = validate_benchmark(path, scenario=scenario).notes
    assert any("`mean_tpot_ms` is nan" in note for note in notes)
    assert any("sent over 9.95 s: duration less one latency" in note for note in notes)

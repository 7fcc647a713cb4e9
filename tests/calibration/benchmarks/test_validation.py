"""Benchmarks replayed: the load of the file, the deployment of a scenario, figure by figure."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.benchmarks import validate_benchmark, write_benchmark_files
from calibration.benchmarks.drive import sending_s, traffic_of, users_of
from calibration.benchmarks.figures import figures_of
from calibration.benchmarks.plausible import contradiction
from calibration.importers import Benchmark, Lengths, Served
from sim.errors import InputError
from sim.records import WeightedSamples
from sim.run import serve
from sim.scenario import Scenario, build_scenario, resolve

RUN = Benchmark(
    case="a",
    tool="vllm",
    inputs=Lengths(256.5),
    outputs=Lengths(33.0),
    prompts=64,
    figures={"ttft_mean_ms": 20.0, "tpot_mean_ms": 8.0, "requests_per_s": 8.0},
    users=4,
)
FACTS: dict[str, Any] = {
    "name": "small",
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "closed_loop", "users": 3},
        "input_tokens": {"kind": "fixed", "tokens": 100},
        "output_tokens": {"kind": "fixed", "tokens": 20},
    },
    "run": {"requests": 30},
}


@pytest.fixture
def scenario() -> Scenario:
    return build_scenario(FACTS, where="the test", folder=Path())


@pytest.fixture
def result_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a result of `vllm bench serve` with some of its keys replaced."""

    def write(**keys: Any) -> Path:
        document = {
            "model_id": "llama-3.1-8b", "num_prompts": 64, "request_rate": "inf",
            "max_concurrency": 4, "duration": 9.0, "completed": 64,
            "total_input_tokens": 64 * 256, "total_output_tokens": 64 * 33,
            "request_throughput": 7.1, "output_throughput": 234.0,
            "mean_ttft_ms": 30.0, "median_ttft_ms": 25.0, "p99_ttft_ms": 60.0,
            "mean_tpot_ms": 8.0, "median_tpot_ms": 8.0, "p99_tpot_ms": 9.0,
            "mean_itl_ms": 8.0, "median_itl_ms": 7.9, "p99_itl_ms": 12.0, **keys,
        }  # fmt: skip
        path = tmp_path / "result.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return write


def test_the_mean_length_of_the_file_is_kept_exactly() -> None:
    traffic = traffic_of(RUN, None)
    assert traffic.input_tokens.mean() == 256.5
    assert set(traffic.output_tokens) == {33}
    assert (traffic.users, traffic.measured) == (4, 64)


def test_quantiles_of_the_file_are_drawn_evenly() -> None:
    lengths = Lengths(150, quantiles=((0.0, 100), (0.5, 150), (1.0, 200)))
    drawn = traffic_of(replace(RUN, inputs=lengths, prompts=100), None).input_tokens
    assert np.median(drawn) == pytest.approx(150, abs=1)
    assert drawn.min() >= 100
    assert drawn.max() <= 200


def test_requests_at_a_rate_are_an_open_loop_that_lasts_as_long_as_asked() -> None:
    run = replace(RUN, requests_per_s=2.0, users=None)
    traffic = traffic_of(run, None)
    assert traffic.users is None
    assert traffic.arrival_s[-1] == pytest.approx(64 / 2)


def test_no_rate_and_no_limit_is_all_at_once() -> None:
    assert traffic_of(replace(RUN, users=None, at_once=True), None).users == 64


def test_a_limit_on_requests_in_flight_rules_where_the_rate_was_not_reached() -> None:
    asked = replace(RUN, requests_per_s=20.0, users=4)  # 8 of 20 requests/s came
    assert users_of(asked, None) == 4
    reached = replace(RUN, requests_per_s=8.1, users=400)
    assert users_of(reached, None) is None


def test_a_client_that_fell_short_of_its_rate_is_believed() -> None:
    # 64 requests in 10 s, of which the last took 20 + 32 x 8 = 276 ms to answer
    run = replace(RUN, requests_per_s=8.0, users=None, duration_s=10.0)
    assert sending_s(run, 8.0) == pytest.approx(10.0 - 0.276)
    queued = replace(run, figures={"ttft_mean_ms": 900.0, "tpot_mean_ms": 8.0})
    assert sending_s(queued, 8.0) == 8.0


def test_figures_follow_from_the_records(scenario: Scenario) -> None:
    traffic = scenario.workload.draw(30, 0)
    simulation = serve(scenario, resolve(scenario), traffic)
    figures = figures_of(simulation)
    assert figures is not None
    records = simulation.records
    lasting = records.last_token_s.max() - records.arrival_s.min()
    assert figures["output_tokens_per_s"] == pytest.approx(30 * 20 / lasting)
    ttft = records.first_token_s - records.arrival_s
    assert figures["ttft_mean_ms"] == pytest.approx(1e3 * ttft.mean())
    # answers of equal length: the mean of all gaps is the mean TPOT
    assert figures["itl_mean_ms"] == pytest.approx(figures["tpot_mean_ms"])
    spaced = replace(simulation, gaps=WeightedSamples(np.array([3.0, 1.0]), np.array([1.0, 9.0])))
    gaps = figures_of(spaced)
    assert gaps is not None
    assert (gaps["itl_median_ms"], gaps["itl_p99_ms"]) == (1000, 3000)
    assert gaps["itl_mean_ms"] == pytest.approx(1200)


def test_a_result_is_compared_figure_by_figure(
    result_file: Callable[..., Path], scenario: Scenario, tmp_path: Path
) -> None:
    validation = validate_benchmark(result_file(), scenario=scenario)
    assert (validation.rows, len(validation.compared), validation.refused) == (1, 1, ())
    document = validation.to_json()
    overall: Any = document["overall"]
    assert {"tpot", "ttft", "itl", "output_tokens_per_s", "requests_per_s"} == set(overall)
    assert overall["tpot"]["n"] == 1
    bands: Any = document["by"]
    assert set(bands["concurrency_band"]) == {"1-8", "9-32", "33-128", "129+"}
    assert bands["concurrency_band"]["1-8"]["ttft"]["n"] == 1
    write_benchmark_files(validation, tmp_path / "there")
    with (tmp_path / "there" / "rows.csv").open(encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert float(row["ttft_ms"]) == 30
    assert float(row["predicted_tpot_ms"]) == pytest.approx(float(row["predicted_tpot_mean_ms"]))
    assert (tmp_path / "there" / "parity.html").read_text("utf-8").startswith("<!doctype html>")


def test_the_statistic_of_ttft_is_chosen_once_for_the_file(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    path = result_file(mean_ttft_ms=300.0, median_ttft_ms=25.0, p99_ttft_ms=2_000.0)
    mean = validate_benchmark(path, scenario=scenario).to_json()["overall"]
    median = validate_benchmark(path, scenario=scenario, ttft_statistic="median").to_json()
    of_mean, of_median = mean["ttft"], median["overall"]["ttft"]  # type: ignore[index]
    assert of_mean["median_bias"] < -0.8
    assert of_median["median_bias"] > -0.5


def test_without_a_deployment_the_reason_is_given(result_file: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="does not name the gpu; give the deployment with --sce"):
        validate_benchmark(result_file())


def test_a_server_that_speculated_is_not_compared_with_one_that_does_not(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    with pytest.raises(InputError, match="the server speculated, the scenario does not"):
        validate_benchmark(result_file(spec_decode_num_drafts=100), scenario=scenario)


def test_runs_with_failed_requests_are_apart(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    validation = validate_benchmark(result_file(num_prompts=100), scenario=scenario)
    assert len(validation.compared) == 1
    assert validation.sound == ()


def test_microseconds_in_a_column_of_milliseconds_are_found_out(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    # 8,000 ms a token cannot be in a run of 9 s with 32 tokens an answer
    with pytest.raises(InputError, match="other units than its name says"):
        validate_benchmark(
            result_file(mean_tpot_ms=8000.0, median_tpot_ms=8000.0), scenario=scenario
        )


def test_seconds_in_a_column_of_milliseconds_are_found_out() -> None:
    run = replace(RUN, figures={"ttft_mean_ms": 0.03, "tpot_mean_ms": 0.008, "requests_per_s": 13})
    assert "requests in flight, for 4 users" in str(contradiction(run))
    assert contradiction(RUN) is None


TABLE = (
    "model,gpu,engine,weights,tensor_parallel,requests_per_s,input_tokens,output_tokens,"
    "num_prompts,ttft_ms,itl_ms,output_tokens_per_s"
)


def test_a_queue_that_grows_is_no_slip_of_units(tmp_path: Path) -> None:
    """400 prompts/s of 4,096 tokens are 26 PFLOP/s for an 8B model: 13 times the peak in FP8."""
    path = tmp_path / "sweep.csv"
    row = "llama-3.1-8b,h100_sxm,vllm,fp8,1,400,4096,64,4000,60,7,25000"
    path.write_text(f"{TABLE}\n{row}\n", encoding="utf-8")
    (only,) = validate_benchmark(path).compared
    assert only.overloaded
    assert only.predicted.figures["ttft_mean_ms"] > 250 * 60


def test_a_table_of_rates_is_replayed_open_loop(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    rows = ["llama-3.1-8b,h100_sxm,vllm,fp8,1,2,512,64,50,30,6,128",
            "llama-3.1-8b,h100_sxm,vllm,fp8,1,8,512,64,50,40,7,500"]  # fmt: skip
    path.write_text("\n".join([TABLE, *rows]) + "\n", encoding="utf-8")
    validation = validate_benchmark(path)
    assert [row.predicted.requests_per_s for row in validation.compared] == [2, 8]
    assert set(validation.by_figure) == {"ttft_mean_ms", "itl_mean_ms", "output_tokens_per_s"}
    median = validate_benchmark(path, ttft_statistic="median")
    assert "ttft_median_ms" in median.by_figure
    busy = validation.compared[1].predicted.figures["itl_mean_ms"]
    assert busy > validation.compared[0].predicted.figures["itl_mean_ms"]


@pytest.mark.parametrize(
    ("header", "row", "problem"),
    [
        (TABLE, "m,g,vllm,fp8,1,2,512,64,50,nan,6,1", "line 2: `ttft_ms` should be a number"),
        (TABLE, "m,g,vllm,fp8,1,-2,512,64,50,3,6,1", "line 2: `requests_per_s` should be"),
        (TABLE, "m,g,vllm,fp8,1.5,2,512,64,50,3,6,1", "`tensor_parallel` should be a whole"),
        (TABLE, "m,g,vllm,fp8,1,2,512,64,50,,,", "a measured figure` is missing"),
        (TABLE, "m,g,vllm", "line 2 has 3 cells"),
        ("model,gpu,requests_per_s", "m,g,1", "columns are missing: `input_tokens`"),
        ("requests_per_s,input_tokens,output_tokens", "1,2,3", "holds no measured figure"),
    ],
)
def test_a_wrong_table_is_refused_by_line_and_column(
    tmp_path: Path, header: str, row: str, problem: str
) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text(f"{header}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        validate_benchmark(path)


def test_a_row_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    row = "llama-3.1-8b,h100_sxm,vllm,fp8,1,2,512,64,50,30,6,128"
    path.write_text(f"{TABLE}\n{row}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3 repeats line 2"):
        validate_benchmark(path)


def test_served_facts_are_a_deployment(tmp_path: Path) -> None:
    run = replace(RUN, served=Served(model="llama-3.1-8b", gpu="h100_sxm", replicas=2))
    from calibration.benchmarks.drive import scenario_for

    deployment = scenario_for(run, None).deployment
    assert (deployment.replicas, deployment.weights) == (2, "checkpoint")


AIPERF = """\
Metric,avg,min,max,sum,p1,p50,p99
Input Sequence Length (tokens),100.00,100,100,1,100,100,100
Output Sequence Length (tokens),20.00,20,20,1,20,20,20
"Inter Token Latency (ms)",7.00,6,8,1,6,7.00,8.00
Time to First Token (ms),25.00,20,30,1,20,25.00,30.00

Metric,Value
Request Count,30.00
"""


def test_a_file_without_a_load_says_that_the_scenarios_was_taken(
    scenario: Scenario, tmp_path: Path
) -> None:
    path = tmp_path / "aiperf.csv"
    path.write_text(AIPERF, encoding="utf-8")
    validation = validate_benchmark(path, scenario=scenario)
    assert any("does not tell the load: simulated was the scenario's, 3 users" in note
               for note in validation.notes)  # fmt: skip
    document = validation.to_json()
    assert document["load_of_scenario"] == 1
    assert document["notes"] == list(validation.notes)


def test_a_result_without_rate_and_limit_asks_for_a_load(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    path = result_file(request_rate=None, max_concurrency=None)
    validation = validate_benchmark(path, scenario=scenario)
    assert validation.compared[0].predicted.users == 3
    assert validation.to_json()["load_of_scenario"] == 1
    with pytest.raises(InputError, match="does not tell how requests were sent"):
        traffic_of(replace(RUN, users=None), None)


def test_a_result_that_was_sent_all_at_once_needs_no_load(
    result_file: Callable[..., Path], scenario: Scenario
) -> None:
    validation = validate_benchmark(result_file(max_concurrency=None), scenario=scenario)
    assert validation.to_json()["load_of_scenario"] == 0
    assert validation.compared[0].predicted.users == 64

"""Result files as people publish them: units, infinities, failures, odd keys."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from calibration.importers import Benchmark, Unusable, read_benchmark
from sim.errors import InputError

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("PARETOKEN_SHARED", ROOT.parent / "shared" / "data"))
PUBLISHED = sorted((SHARED / "benchmarks").glob("*"))

VLLM: dict[str, Any] = {
    "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "num_prompts": 100,
    "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 8, "duration": 50.0,
    "completed": 100, "total_input_tokens": 100_000, "total_output_tokens": 20_000,
    "request_throughput": 2.0, "request_goodput:": None, "output_throughput": 400.0,
    "mean_ttft_ms": 100.0, "median_ttft_ms": 90.0, "p99_ttft_ms": 300.0,
    "mean_tpot_ms": 19.0, "median_tpot_ms": 18.5, "p99_tpot_ms": 25.0,
    "mean_itl_ms": 19.0, "median_itl_ms": 18.0, "p99_itl_ms": 60.0,
}  # fmt: skip
AIPERF: dict[str, Any] = {
    "request_throughput": {"unit": "requests/sec", "avg": 2.0},
    "request_count": {"unit": "requests", "avg": 100.0},
    "time_to_first_token": {"unit": "sec", "avg": 0.25, "p50": 0.2, "p99": 0.9},
    "inter_token_latency": {"unit": "us", "avg": 12_000, "p50": 11_000, "p99": 20_000},
    "output_sequence_length": {"unit": "tokens", "avg": 200, "min": 100, "max": 300},
    "input_sequence_length": {"unit": "tokens", "avg": 1000},
    "input_config": {
        "phases": [
            {"name": "warmup", "concurrency": 2, "exclude_from_results": True},
            {"name": "profiling", "concurrency": 16},
        ]
    },
}
GUIDELLM: dict[str, Any] = {
    "args": {"model": "Qwen/Qwen3-0.6B"},
    "benchmarks": [
        {
            "config": {"strategy": {"type_": "constant", "rate": 3.0}},
            "metrics": {
                "request_totals": {"successful": 50, "errored": 1},
                "request_latency": {"successful": {"mean": 2.5, "median": 2.0}},
                "time_to_first_token_ms": {"successful": {"mean": 80.0, "median": 70.0}},
                "inter_token_latency_ms": {"successful": {"mean": 9.0, "median": 8.5}},
                "prompt_token_count": {"successful": {"mean": 512.0}},
                "output_token_count": {"successful": {"mean": 256.0}},
            },
        }
    ],
}
LLMPERF: dict[str, Any] = {
    "model": "m", "num_concurrent_requests": 5, "mean_input_tokens": 550,
    "results_ttft_s_mean": 0.5, "results_ttft_s_quantiles_p50": 0.4,
    "results_inter_token_latency_s_mean": 0.02, "results_end_to_end_latency_s_mean": 3.0,
    "results_number_input_tokens_mean": 551.0, "results_number_output_tokens_mean": 149.5,
    "results_num_completed_requests": 150,
    "results_num_completed_requests_per_min": 120.0,
}  # fmt: skip


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Write documents, one a line, and read them; one usable run is returned bare."""

    def write_and_read(*documents: Any, name: str = "result.json") -> Any:
        path = tmp_path / name
        text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents)
        path.write_text(text, encoding="utf-8")
        found = read_benchmark(path)
        return found[0] if len(found) == 1 else found

    return write_and_read


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name)
def test_no_published_file_crashes_its_importer(path: Path) -> None:
    if "all_failed" in path.name:
        with pytest.raises(InputError, match=r"no request was answered \(8 failed\)"):
            read_benchmark(path)
        return
    for run in read_benchmark(path):
        assert isinstance(run, Benchmark)
        assert run.figures
        assert all(0 < value < 1e7 for value in run.figures.values())
        assert run.inputs.mean >= 1
        assert run.outputs.mean >= 1


def test_the_published_files_are_there_or_it_is_said_that_they_are_not() -> None:
    if not PUBLISHED:
        pytest.skip(f"no published benchmark files in {SHARED}")
    assert len(PUBLISHED) == 11


def test_a_closed_loop_of_vllm(read: Any) -> None:
    run = read(VLLM)
    assert (run.users, run.requests_per_s, run.prompts) == (8, None, 100)
    assert (run.inputs.mean, run.outputs.mean) == (1000, 200)
    assert run.figures["ttft_mean_ms"] == 100
    assert run.figures["itl_p99_ms"] == 60
    assert run.served.model == "meta-llama/Llama-3.1-8B-Instruct"


@pytest.mark.parametrize("rate", ["inf", float("inf"), None, 0])
def test_no_rate_is_no_rate_however_it_is_written(read: Any, rate: Any) -> None:
    run = read({**VLLM, "request_rate": rate, "max_concurrency": None})
    assert run.requests_per_s is None
    assert run.users is None


def test_bare_infinity_and_nan_are_read(read: Any) -> None:
    text = json.dumps({**VLLM, "request_rate": float("inf"), "std_itl_ms": float("nan")})
    assert "Infinity" in text
    assert read(text).users == 8


def test_an_open_loop_keeps_its_rate_and_burstiness(read: Any) -> None:
    run = read({**VLLM, "request_rate": 4.5, "burstiness": 0.5, "max_concurrency": None})
    assert (run.requests_per_s, run.burstiness, run.users) == (4.5, 0.5, None)


def test_lines_are_runs_and_those_that_failed_are_named(read: Any) -> None:
    failed = {**VLLM, "completed": 0, "failed": 100, "mean_ttft_ms": 0.0}
    good, bad = read(VLLM, failed, name="sweep.jsonl")
    assert isinstance(good, Benchmark)
    assert bad == Unusable("sweep #2", "no request was answered (100 failed)")


def test_lengths_request_by_request_are_kept(read: Any) -> None:
    run = read({**VLLM, "input_lens": [10, 30], "output_lens": [5, 7]})
    assert run.inputs.each == (10, 30)
    assert run.inputs.mean == 20


def test_a_label_of_gpus_and_replicas_is_a_deployment(read: Any) -> None:
    served = read({**VLLM, "gpu": "4xNVIDIA_L40S", "decode_replicas": "2"}).served
    assert (served.gpu, served.replicas, served.tensor_parallel) == ("l40s", 2, 2)


def test_sglang_lengths_are_uniform_where_the_totals_agree(read: Any) -> None:
    line = {
        **VLLM, "mean_e2e_latency_ms": 4000.0, "random_input_len": 2000, "random_output_len": 400,
        "random_range_ratio": 0.0, "total_input_tokens": 101_000, "total_output_tokens": 35_000,
        "server_info": {"model_path": "Qwen/Qwen3-8B", "tp_size": 4, "dp_size": 2,
                        "disaggregation_mode": "null",
                        "enable_dp_attention": True, "max_running_requests": 64},
    }  # fmt: skip
    run = read(line)
    assert run.inputs.quantiles == ((0.0, 1), (1.0, 2000))  # mean 1000.5 against 1010
    assert run.outputs.quantiles == ()  # 350 is not near 200.5
    assert run.outputs.mean == 350
    assert (run.served.tensor_parallel, run.served.attention_data_parallel) == (2, 2)
    assert run.figures["ttlt_mean_ms"] == 4000


def test_aiperf_units_are_converted_and_warm_up_is_not_the_load(read: Any) -> None:
    run = read(AIPERF)
    assert run.figures["ttft_mean_ms"] == 250
    assert run.figures["tpot_mean_ms"] == 12
    assert run.users == 16
    assert run.outputs.quantiles == ((0.0, 100), (1.0, 300))


def test_aiperf_csv_is_the_same_report(read: Any) -> None:
    run = read(
        "Metric,avg,min,max,sum,p1,p50,p99",
        "Input Sequence Length (tokens),1000.00,1000,1000,1,1000,1000,1000",
        "Output Sequence Length (tokens),200.00,100,300,1,101,200,299",
        '"Inter Token Latency (ms)",12.00,1,1,1,1,11.00,20.00',
        "Time to First Token (ms),250.00,1,1,1,1,200.00,900.00",
        "",
        "Metric,Value",
        "Request Count,96.00",
        "Request Throughput (requests/sec),2.00",
        "",
        "Endpoint,GPU_Index,GPU_Name,Metric,avg",
        "localhost,0,GPU,Power (W),300",
        name="report.csv",
    )
    assert run.figures["ttft_p99_ms"] == 900
    assert run.figures["tpot_median_ms"] == 11
    assert run.figures["requests_per_s"] == 2
    assert (run.prompts, run.users) == (96, None)


def test_guidellm_seconds_are_seconds_and_constant_is_open_loop(read: Any) -> None:
    run = read(GUIDELLM)
    assert run.requests_per_s == 3
    assert run.figures["ttlt_mean_ms"] == 2500
    assert run.figures["itl_mean_ms"] == 9
    assert run.failed == 1


def test_llmperf_seconds_become_milliseconds_and_its_gap_holds_the_prompt(read: Any) -> None:
    run = read(LLMPERF)
    assert run.figures["ttft_mean_ms"] == 500
    assert run.figures["per_token_mean_ms"] == 20
    assert "itl_mean_ms" not in run.figures
    assert run.figures["requests_per_s"] == 2
    assert run.users == 5


def test_a_table_of_loads_is_a_run_a_load(read: Any) -> None:
    load = {
        "concurrency": 4, "input_token_length": 750, "output_token_length": 150,
        "first-time-to-token_mean_in_ms": 292, "throughput_token_per_s": 105,
        "latency_ms_per_token": 34,
    }  # fmt: skip
    runs = read({"4": load, "8": {**load, "concurrency": 8}})
    assert [run.users for run in runs] == [4, 8]
    assert runs[0].figures["tpot_mean_ms"] == 34


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("{}", "not a result file of a tool that is known here; known: SGLang"),
        ('{"a": 1}', "vllm bench serve .*GuideLLM .*AIPerf .*llmperf"),
        ("[1, 2]", "holds no JSON objects"),
        ('{"mean_ttft_ms": 1, "request_rate": 2, "com', "not valid JSON: .*is it cut off"),
        (json.dumps(VLLM) + "\n" + json.dumps(VLLM)[:50], "line 2 is not a JSON object"),
        ("hello", "not valid JSON"),
        (json.dumps({**VLLM, "total_input_tokens": 0}), "does not tell how long prompts"),
        (json.dumps({"benchmarks": []}), "holds no usable measurement"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
    ],
)
def test_a_file_that_is_none_is_refused_with_the_reason(
    read: Any, text: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read(text)

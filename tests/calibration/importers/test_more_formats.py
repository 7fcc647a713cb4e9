"""Tools and versions beside the first five: field names are those of the tools' own sources."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.benchmarks.reading import header_of
from calibration.importers import Benchmark, read_benchmark
from sim.errors import InputError

Written = Callable[..., Path]


def percentiles(middle: float) -> dict[str, float]:
    """Return trtllm-bench's percentiles around a value."""
    return {"p50": middle, "p90": middle * 1.2, "p99": middle * 2, "average": middle * 1.1}


def summary(mean: float) -> dict[str, float]:
    """Return inference-perf's summary of a quantity."""
    return {"mean": mean, "min": mean / 2, "median": mean * 0.9, "p99": mean * 3, "max": mean * 4}


TRTLLM: dict[str, Any] = {
    "engine": {"model": "meta-llama/Llama-3.1-8B-Instruct", "version": "1.1.0",
               "backend": "Pytorch", "kv_cache_dtype": "FP8", "quantization": "FP8"},
    "machine": {"name": "NVIDIA H100 80GB HBM3", "memory.total": 79.1},
    "world_info": {"tp_size": 2, "pp_size": 1, "ep_size": None, "world_size": 2,
                   "max_batch_size": 64, "max_num_tokens": 8192, "kv_cache_percentage": 0.9},
    "request_info": {"num_requests": 200, "avg_num_concurrent_requests": 15.4,
                     "avg_input_length": 1024.0, "avg_output_length": 256.0},
    "performance": {"total_latency_ms": 30_000.0, "avg_request_latency_ms": 2200.0,
                    "request_throughput_req_s": 6.7, "system_output_throughput_tok_s": 1706.0,
                    "output_throughput_per_gpu_tok_s": 853.0,
                    "request_latency_percentiles_ms": percentiles(2000.0)},
    "streaming_metrics": {"avg_ttft_ms": 80.0, "avg_tpot_ms": 8.3,
                          "tpot_percentiles": percentiles(8.0),
                          "ttft_percentiles": percentiles(75.0)},
}  # fmt: skip
INFERENCEX: dict[str, Any] = {
    "hw": "h200-nv_0", "conc": 16, "image": "i", "model": "nvidia/Llama-3.3-70B-Instruct-FP8",
    "infmax_model_prefix": "llama70b", "framework": "trt", "precision": "fp8",
    "spec_decoding": "none", "disagg": False, "isl": 1024, "osl": 8192, "is_multinode": False,
    "tp": 4, "ep": 1, "dp_attention": "false", "tput_per_gpu": 700.0,
    "output_tput_per_gpu": 350.0, "mean_ttft": 0.18, "median_ttft": 0.16, "p99_ttft": 0.9,
    "mean_tpot": 0.0215, "mean_intvty": 46.5, "mean_e2el": 20.0,
}  # fmt: skip
STAGE: dict[str, Any] = {
    "load_summary": {"count": 961, "send_duration": 60.0, "requested_rate": 16.0,
                     "achieved_rate": 16.002},
    "successes": {
        "count": 960,
        "latency": {"request_latency": summary(3.0), "time_to_first_token": summary(0.1),
                    "time_per_output_token": summary(0.0175),
                    "inter_token_latency": summary(0.0176),
                    "normalized_time_per_output_token": summary(0.04)},
        "throughput": {"output_tokens_per_sec": 2673.7, "requests_per_sec": 12.67},
        "prompt_len": summary(218.0), "output_len": summary(211.0)},
    "failures": {"count": 1},
}  # fmt: skip
VLLM: dict[str, Any] = {
    "backend": "vllm", "model_id": "m", "num_prompts": 100, "request_rate": "inf",
    "max_concurrency": 8, "duration": 50.0, "completed": 100, "total_input_tokens": 100_000,
    "total_output_tokens": 20_000, "output_throughput": 400.0, "mean_ttft_ms": 100.0,
    "mean_tpot_ms": 19.0,
}  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(content: Any, name: str = "result.json") -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def only(path: Path) -> Benchmark:
    """Return the one run of a file."""
    (run,) = read_benchmark(path)
    assert isinstance(run, Benchmark)
    return run


def test_trtllm_bench_tells_its_deployment_and_its_times_in_ms(written: Written) -> None:
    run = only(written(TRTLLM))
    assert (run.figures["ttft_mean_ms"], run.figures["ttft_median_ms"]) == (80.0, 75.0)
    assert (run.figures["tpot_mean_ms"], run.figures["tpot_p99_ms"]) == (8.3, 16.0)
    assert run.figures["output_tokens_per_s"] == 1706.0  # of all GPUs
    served = run.served
    assert (served.gpu, served.engine, served.weights) == ("h100_sxm", "trtllm", "fp8")
    assert (served.tensor_parallel, served.kv_precision, served.max_sequences) == (2, "fp8", 64)
    assert (run.users, run.prompts, run.duration_s) == (16, 200, 30.0)
    assert "does not tell the limit" in run.notes[0]


def test_trtllm_bench_without_a_limit_is_all_at_once(written: Written) -> None:
    asked = {**TRTLLM["request_info"], "avg_num_concurrent_requests": 130.0}
    run = only(written({**TRTLLM, "request_info": asked, "streaming_metrics": None}))
    assert run.at_once
    assert run.users is None
    assert "ttft_mean_ms" not in run.figures
    assert "without --streaming" in run.notes[0]


def test_inferencex_seconds_are_seconds_and_its_throughput_is_of_one_gpu(written: Written) -> None:
    run = only(written([INFERENCEX]))
    assert run.figures["ttft_mean_ms"] == pytest.approx(180.0)
    assert run.figures["tpot_mean_ms"] == pytest.approx(21.5)
    assert run.figures["output_tokens_per_s"] == 4 * 350.0
    assert (run.served.gpu, run.served.engine) == ("h200_sxm", "trtllm")
    assert (run.served.model, run.served.weights) == ("meta-llama/Llama-3.3-70B-Instruct", "fp8")
    assert (run.users, run.prompts, run.inputs.quantiles) == (16, 160, ((0, 819), (1, 1024)))


def test_inferencex_with_attention_on_each_rank_has_no_tensor_parallelism(
    written: Written,
) -> None:
    served = only(written({**INFERENCEX, "dp_attention": "true", "tp": 8, "ep": 8})).served
    found = (served.tensor_parallel, served.attention_data_parallel, served.expert_parallel)
    assert found == (1, 8, 8)


def test_inferencex_without_the_number_of_gpus_tells_no_throughput_of_the_server(
    written: Written,
) -> None:
    run = only(written({key: value for key, value in INFERENCEX.items() if key != "tp"}))
    assert "output_tokens_per_s" not in run.figures
    assert run.figures["ttft_mean_ms"] == pytest.approx(180.0)


def test_a_row_of_inferencex_with_its_metrics_apart_is_the_same_run(written: Written) -> None:
    names = {"tput_per_gpu", "output_tput_per_gpu", "mean_ttft", "mean_tpot"}
    row = {key: value for key, value in INFERENCEX.items() if key not in names | {"hw", "tp"}}
    row |= {"hardware": "h200", "decode_tp": 4, "metrics": {key: INFERENCEX[key] for key in names}}
    run = only(written(row))
    assert run.figures["ttft_mean_ms"] == pytest.approx(180.0)
    assert (run.served.gpu, run.served.tensor_parallel) == ("h200_sxm", 4)


def test_a_stage_of_inference_perf_is_an_open_loop_in_seconds(written: Written) -> None:
    run = only(written(STAGE))
    assert (run.requests_per_s, run.users, run.prompts, run.failed) == (16.0, None, 960, 1)
    assert run.figures["ttft_mean_ms"] == 100.0
    assert run.figures["tpot_mean_ms"] == 17.5
    assert run.figures["per_token_mean_ms"] == 40.0
    assert run.inputs.quantiles[0] == (0.0, 109.0)


def test_a_stage_with_a_limit_is_a_closed_loop(written: Written) -> None:
    run = only(written({**STAGE, "load_summary": {**STAGE["load_summary"], "concurrency": 32}}))
    assert (run.users, run.requests_per_s) == (32, None)


def test_a_sweep_of_vllm_as_csv_is_a_run_a_row(written: Written) -> None:
    rows = [VLLM, {**VLLM, "max_concurrency": "", "request_rate": 4.0}]
    lines = [",".join(VLLM), *(",".join(str(one) for one in row.values()) for row in rows)]
    closed, open_loop = read_benchmark(written("\n".join(lines) + "\n", "summary.csv"))
    assert isinstance(closed, Benchmark)
    assert isinstance(open_loop, Benchmark)
    assert (closed.users, closed.requests_per_s, closed.outputs.mean) == (8, None, 200)
    assert (open_loop.users, open_loop.requests_per_s) == (None, 4.0)


@pytest.mark.parametrize("header", [f"\n{', '.join(VLLM)}", f",,\n {','.join(VLLM)}"])
def test_a_sweep_may_have_spaces_and_blank_lines_before_its_header(
    written: Written, header: str
) -> None:
    path = written(f"{header}\n{','.join(map(str, VLLM.values()))}\n", "summary.csv")
    assert header_of(path) == list(VLLM)
    assert only(path).users == 8


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([VLLM, VLLM], "line 3 repeats line 2"),
        ([VLLM, dict.fromkeys(list(VLLM)[:5], 1)], "line 3 has 5 cells, the header 12"),
    ],
)
def test_a_row_of_a_sweep_is_neither_counted_twice_nor_dropped(
    written: Written, rows: list[dict[str, Any]], problem: str
) -> None:
    lines = [",".join(VLLM), *(",".join(str(one) for one in row.values()) for row in rows)]
    with pytest.raises(InputError, match=problem):
        read_benchmark(written("\n".join(lines) + "\n", "summary.csv"))


def test_a_file_of_one_very_long_line_is_read_or_refused_in_a_sentence(written: Written) -> None:
    long = "x" * 200_000  # above the 128 KiB that a cell of a CSV file may have
    assert only(written({**VLLM, "tag": long})).users == 8
    with pytest.raises(InputError, match="holds no JSON objects"):
        read_benchmark(written(f'"{long}"'))


def test_guidellm_before_0_4_keeps_load_model_and_counts_elsewhere(written: Written) -> None:
    metrics = {
        name: {"successful": {"mean": value, "median": value}}
        for name, value in {
            "time_to_first_token_ms": 80.0, "inter_token_latency_ms": 9.0,
            "time_per_output_token_ms": 8.9, "request_latency": 2.5, "requests_per_second": 6.0,
            "prompt_token_count": 512.0, "output_token_count": 256.0,
        }.items()
    }  # fmt: skip
    one = {
        "args": {"strategy_index": 0, "strategy": {"type_": "concurrent", "streams": 16}},
        "run_stats": {"requests_made": {"successful": 288, "errored": 2}},
        "worker": {"backend_model": "Qwen/Qwen3-8B"},
        "metrics": metrics,
    }
    run = only(written({"benchmarks": [one]}))
    assert (run.users, run.prompts, run.failed) == (16, 288, 2)
    assert run.served.model == "Qwen/Qwen3-8B"
    # up to 0.3 that figure was (last - first token) / tokens, without the prompt
    assert "per_token_median_ms" not in run.figures


def test_genai_perf_makes_a_list_of_every_option(written: Written) -> None:
    times = {"unit": "ms", "avg": 96.0, "p50": 90.0, "p99": 200.0}
    lengths = {"unit": "tokens", "avg": 256.0}
    report = {
        "time_to_first_token": times, "request_latency": times,
        "input_sequence_length": lengths, "output_sequence_length": lengths,
        "input_config": {"model": ["llama-3.1-8b"], "concurrency": [16], "request_rate": None},
    }  # fmt: skip
    for content in (report, {"records": report, "input_config": report["input_config"]}):
        run = only(written(content))
        assert (run.users, run.served.model) == (16, "llama-3.1-8b")
        assert run.figures["ttft_mean_ms"] == 96.0


def test_single_requests_of_llmperf_are_one_run(written: Written) -> None:
    requests = [
        {"ttft_s": 0.1 * n, "end_to_end_latency_s": 3.0, "inter_token_latency_s": 0.012,
         "number_input_tokens": 1000, "number_output_tokens": 250, "error_msg": ""}
        for n in (1, 2, 6)
    ]  # fmt: skip
    failed = {**requests[0], "error_msg": "429", "number_output_tokens": 0}
    run = only(written([*requests, failed]))
    assert run.figures["ttft_mean_ms"] == pytest.approx(300.0)
    assert run.figures["ttft_median_ms"] == pytest.approx(200.0)
    assert (run.prompts, run.failed, run.outputs.each) == (3, 1, (250, 250, 250))
    assert not run.tells_load


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({**VLLM, "mean_ttft_ms": -5.0}, "`mean_ttft_ms` is -5: no time is below 0"),
        ({**VLLM, "mean_ttft_ms": "96,1"}, "`mean_ttft_ms` is '96,1', which is no number"),
        (
            {**VLLM, "ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 9},
            r"rose from 1 to 9/s \(linear\), which is not replayed",
        ),
        ({**INFERENCEX, "disagg": True}, "prefill and decode ran on servers of their own"),
        (
            {**STAGE, "load_summary": {"count": 960}},
            "a summary of all stages.*give the file of one stage",
        ),
        (
            {"elapsed_time": 1.0, "requests_per_second": 2.0, "tokens_per_second": 3.0},
            "a result of `vllm bench throughput`, which has no latencies",
        ),
        ({"metadata": {}, "metrics": {}}, "give profile_export_aiperf.json"),
        ({"hello": 1, "world": 2}, "found `hello`, `world`"),
    ],
)
def test_what_cannot_be_replayed_is_refused_by_name(
    written: Written, content: Any, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read_benchmark(written(content))
    assert "\n" not in str(caught.value)


def test_a_comma_may_separate_thousands(written: Written) -> None:
    run = only(written({**VLLM, "mean_ttft_ms": "1,096.5", "median_ttft_ms": "n/a"}))
    assert run.figures["ttft_mean_ms"] == 1096.5
    assert "ttft_median_ms" not in run.figures

"""Files as people have them: a figure that cannot be is named, one that is missing is said."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.benchmarks.drive import scenario_for
from calibration.benchmarks.reading import is_benchmark
from calibration.importers import Benchmark, read_benchmark
from sim.errors import InputError
from sim.scenario import load_scenario

Written = Callable[..., Path]
SGLANG: dict[str, Any] = {
    "backend": "sglang", "request_rate": 4.0, "max_concurrency": None, "duration": 25.0,
    "completed": 100, "total_input_tokens": 51_200, "total_output_tokens": 12_800,
    "request_throughput": 4.0, "output_throughput": 512.0, "mean_ttft_ms": 90.0,
    "mean_e2e_latency_ms": 1200.0, "mean_tpot_ms": 9.0,
}  # fmt: skip
VLLM: dict[str, Any] = {
    **{name: value for name, value in SGLANG.items() if "e2e" not in name},
    "num_prompts": 100,
    "backend": "vllm",
}


def times(mean: float, unit: str = "ms") -> dict[str, Any]:
    """Return GenAI-Perf's summary of a metric."""
    return {"unit": unit, "avg": mean, "p50": mean, "p99": 2 * mean, "min": mean, "max": mean}


GENAI: dict[str, Any] = {
    "request_throughput": {"unit": "requests/sec", "avg": 4.0},
    "request_latency": times(1200.0),
    "time_to_first_token": times(90.0),
    "inter_token_latency": times(9.0),
    "output_sequence_length": times(128.0, "tokens"),
    "input_sequence_length": times(512.0, "tokens"),
    "input_config": {"model": ["m"], "concurrency": 8},
}
GUIDELLM: dict[str, Any] = {
    "benchmarks": [
        {
            "config": {"strategy": {"type_": "concurrent", "streams": 4}},
            "metrics": {
                name: {"successful": {"mean": mean, "median": mean}}
                for name, mean in {
                    "prompt_token_count": 512.0,
                    "output_token_count": 128.0,
                    "time_to_first_token_ms": 90.0,
                    "inter_token_latency_ms": 9.0,
                    "requests_per_second": 4.0,
                }.items()
            },
        }
    ]
}
LLMPERF: dict[str, Any] = {
    "results_ttft_s_mean": 0.09,
    "results_end_to_end_latency_s_mean": 1.2,
    "results_number_input_tokens_mean": 512,
    "results_number_output_tokens_mean": 128,
    "num_concurrent_requests": 4,
}


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(content: Any, name: str = "result.json") -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


def changed(document: dict[str, Any], path: tuple[Any, ...], value: object) -> dict[str, Any]:
    """Return a copy of a document with another value in one place."""
    copy: Any = json.loads(json.dumps(document))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    found: dict[str, Any] = copy
    return found


PLACES = [
    (SGLANG, ("mean_tpot_ms",), "mean_tpot_ms"),
    (VLLM, ("mean_tpot_ms",), "mean_tpot_ms"),
    (VLLM, ("output_throughput",), "output_throughput"),
    (GENAI, ("inter_token_latency", "avg"), "inter_token_latency.avg"),
    (
        GUIDELLM,
        ("benchmarks", 0, "metrics", "inter_token_latency_ms", "successful", "mean"),
        "inter_token_latency_ms.mean",
    ),
    (LLMPERF, ("results_end_to_end_latency_s_mean",), "results_end_to_end_latency_s_mean"),
]


@pytest.mark.parametrize(("document", "path", "name"), PLACES, ids=lambda value: str(value)[-40:])
def test_a_figure_that_is_no_number_is_noted_whichever_tool_wrote_it(
    written: Written, document: dict[str, Any], path: tuple[Any, ...], name: str
) -> None:
    (run,) = read_benchmark(written(changed(document, path, float("nan"))))
    assert isinstance(run, Benchmark)
    assert f"`{name}` is nan, which is no number: taken as not told" in run.notes
    (whole,) = read_benchmark(written(document))
    assert isinstance(whole, Benchmark)
    assert whole.notes == ()
    assert len(whole.figures) == len(run.figures) + 1


@pytest.mark.parametrize(("document", "path", "name"), PLACES, ids=lambda value: str(value)[-40:])
@pytest.mark.parametrize(
    ("value", "why"), [(-3.0, "is -3"), ("9,5", "is '9,5', which is no number")]
)
def test_a_figure_that_cannot_be_refuses_the_run_by_its_name(  # noqa: PLR0917  # a case each
    written: Written,
    document: dict[str, Any],
    path: tuple[Any, ...],
    name: str,
    value: object,
    why: str,
) -> None:
    with pytest.raises(InputError, match=f"`{name}` {why}"):
        read_benchmark(written(changed(document, path, value)))


def test_a_number_beyond_all_floats_is_no_crash(written: Written) -> None:
    path = written(changed(VLLM, ("duration",), 10**400))
    (run,) = read_benchmark(path)
    assert isinstance(run, Benchmark)
    assert run.duration_s is None


def test_a_time_in_a_unit_that_is_none_is_refused_and_not_dropped(written: Written) -> None:
    with pytest.raises(InputError, match=r"90\.0 parsecs"):
        read_benchmark(written(changed(GENAI, ("time_to_first_token", "unit"), "parsecs")))


@pytest.mark.parametrize(
    ("unit", "factor"), [("us", 1e3), ("ns", 1e6), ("sec", 1e-3), ("seconds", 1e-3)]
)
def test_a_unit_that_the_file_names_is_converted(
    written: Written, unit: str, factor: float
) -> None:
    document = changed(GENAI, ("time_to_first_token",), times(90.0 * factor, unit))
    (run,) = read_benchmark(written(document))
    assert isinstance(run, Benchmark)
    assert run.figures["ttft_mean_ms"] == pytest.approx(90.0)


def test_a_run_that_stands_there_twice_counts_once(written: Written) -> None:
    first, second, third = read_benchmark(written([VLLM, VLLM, {**VLLM, "completed": 99}]))
    assert isinstance(first, Benchmark)
    assert not isinstance(second, Benchmark)
    assert second.reason == "repeats run #1 of the file"
    assert isinstance(third, Benchmark)


def test_a_result_without_times_to_first_tokens_is_read(written: Written) -> None:
    """`--percentile-metrics tpot` leaves all others out of the file."""
    document = {name: value for name, value in VLLM.items() if "ttft" not in name}
    (run,) = read_benchmark(written(document))
    assert isinstance(run, Benchmark)
    assert "ttft_mean_ms" not in run.figures
    assert run.figures["tpot_mean_ms"] == 9.0


def test_a_server_that_denoises_is_not_compared_with_one_that_does_not(written: Written) -> None:
    (run,) = read_benchmark(written({**VLLM, "diffusion_denoising_steps": 300}))
    assert isinstance(run, Benchmark)
    with pytest.raises(InputError, match="denoises blocks, that of the scenario does not"):
        scenario_for(run, load_scenario("claims-8b-h100"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"timeslices": [], "input_config": {}}, "AIPerf's slices"),
        ({"aiperf_version": "1", "metadata": {}, "metrics": {}}, "aggregate over several runs"),
        ({**VLLM, "input_sequence_throughput": 3.0}, "answers with embeddings"),
        (b"\x1f\x8b\x08\x00", "compressed .gzip., .*unpack it"),
        (b"PAR1\xff", "a Parquet file, .*save it as CSV"),
        ("{}".encode("utf-16"), "text in UTF-16, .*save it as UTF-8"),
        ("é".encode("latin-1"), "save it as UTF-8"),
    ],
)
def test_files_of_another_kind_are_named(written: Written, content: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_benchmark(written(content))


def test_an_empty_file_says_what_is_wanted(written: Written) -> None:
    with pytest.raises(InputError, match=r"a row a run: case, model, gpu, .* such as run-1,llama"):
        read_benchmark(written(b"", "runs.csv"))


def test_a_folder_is_one_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "runs.json").mkdir()
    with pytest.raises(InputError, match="a directory, not a file"):
        is_benchmark(tmp_path / "runs.json")

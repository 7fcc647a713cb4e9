"""Tables of runs as pages state them: any load, any figure, labels of people."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.benchmarks import is_benchmark, read_file, validate_benchmark
from calibration.benchmarks.drive import scenario_for, traffic_of, users_of
from calibration.importers import Benchmark
from calibration.validate.runs import REQUIRED, read_runs
from sim.errors import InputError

Table = Callable[..., Path]
WHAT = {"model": "llama-3.1-8b", "gpu": "H100", "engine": "vLLM", "weights": "BF16"}
LENGTHS = {"input_tokens": 512, "output_tokens": 64}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    def write(**cells: object) -> Path:
        row = {**WHAT, **LENGTHS, **cells}
        path = tmp_path / "runs.csv"
        path.write_text(
            ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n", encoding="utf-8"
        )
        return path

    return write


def _one(path: Path) -> Benchmark:
    (run,) = read_file(path, "mean")
    assert isinstance(run, Benchmark)
    return run


def test_a_closed_loop_needs_no_times_where_a_rate_was_measured(table: Table) -> None:
    path = table(concurrency=4, num_prompts=8, output_tokens_per_s=300)
    assert is_benchmark(path)
    (row,) = validate_benchmark(path).compared
    assert row.predicted.users == 4
    assert set(row.errors) == {"output_tokens_per_s"}


def test_without_rate_and_limit_all_prompts_are_sent_at_once(table: Table) -> None:
    run = _one(table(num_prompts=30, output_tokens_per_s=300))
    assert run.at_once
    assert users_of(run, None) == 30
    assert traffic_of(run, None).users == 30


def test_rates_per_gpu_and_of_all_tokens_become_tokens_of_answers(table: Table) -> None:
    cells = {"num_prompts": 9, "tensor_parallel": 2, "attention_data_parallel": 2, "replicas": 3}
    each = _one(table(output_tokens_per_s_per_gpu=10, **cells))
    assert each.figures == {"output_tokens_per_s": 120.0}  # 2 x 2 x 3 GPUs
    both = _one(table(total_tokens_per_s=900, num_prompts=9))
    assert both.figures == {"output_tokens_per_s": 100.0}  # 64 of 576 tokens
    stated = _one(table(total_tokens_per_s=900, output_tokens_per_s=99, num_prompts=9))
    assert stated.figures == {"output_tokens_per_s": 99.0}


@pytest.mark.parametrize(
    ("gpu", "engine", "ranks", "sequences"),
    [
        ("H100", "vLLM", 1, 1024),  # 80 GB and no A100
        ("A100", "vllm 0.11", 1, 256),
        ("L40S", "vllm", 1, 256),
        ("B200", "TensorRT-LLM", 4, 8192),  # 2,048 a rank
        ("H200", "SGLang", 1, 2048),
        ("H200", "generic", 1, 256),
    ],
)
def test_what_runs_at_once_is_the_engines_default_unless_the_row_says_it(
    table: Table, gpu: str, engine: str, ranks: int, sequences: int
) -> None:
    cells = {"num_prompts": 9, "ttft_ms": 9, "gpu": gpu, "engine": engine}
    run = _one(table(attention_data_parallel=ranks, **cells))
    assert scenario_for(run, None).deployment.max_sequences == sequences
    told = _one(table(max_sequences=32, **cells))
    assert scenario_for(told, None).deployment.max_sequences == 32


def test_how_the_server_was_set_is_taken_from_the_row(table: Table) -> None:
    cells = {"memory_fraction": 0.8, "graph_batch_sizes": '"[1, 2]"', "max_batched_tokens": 4096}
    scenario = scenario_for(_one(table(num_prompts=9, ttft_ms=9, **cells)), None)
    assert scenario.deployment.memory_fraction == 0.8
    assert scenario.deployment.max_batched_tokens == 4096
    assert scenario.engine_options.graph_batch_sizes == (1, 2)


def test_lengths_follow_the_quantiles_of_a_page(table: Table) -> None:
    cells = {"output_tokens_p50": 20, "output_tokens_p90": 200, "output_tokens_max": 400}
    run = _one(table(num_prompts=1000, ttft_ms=9, **cells))
    tokens = sorted(traffic_of(run, None).output_tokens.tolist())
    assert (tokens[500], tokens[900]) == pytest.approx((20, 200), abs=1)
    with pytest.raises(InputError, match="`output_tokens` has quantiles that fall"):
        read_file(
            table(num_prompts=9, ttft_ms=9, output_tokens_p50=9, output_tokens_p90=5), "mean"
        )


def test_a_checkpoint_that_the_catalog_does_not_list_goes_by_its_name_and_a_note_says_so(
    table: Table,
) -> None:
    path = table(num_prompts=3, ttft_ms=9, model="x/Qwen3-8B-Instruct-2512-FP8", weights="")
    validation = validate_benchmark(path)
    (row,) = validation.compared
    assert (row.predicted.model, row.predicted.weights) == ("Qwen/Qwen3-8B-FP8", "checkpoint")
    assert any("is taken for a checkpoint of qwen3-8b" in note for note in validation.notes)


def test_a_row_that_tells_no_load_is_refused(table: Table) -> None:
    with pytest.raises(InputError, match="line 2: `concurrency` is empty, and so are"):
        read_file(table(concurrency="", ttft_ms=9), "mean")


def test_a_table_of_closed_loops_needs_no_case_and_no_width_of_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    cells = {**WHAT, **LENGTHS, "engine": "TRT-LLM", "weights": "AWQ", "tensor_parallel": 2,
             "concurrency": 4, "ttft_ms": 9, "tpot_ms": 1, "gpu": "H200",
             "model": "hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4"}  # fmt: skip
    path.write_text(
        ",".join(REQUIRED) + "\n" + ",".join(str(cells[name]) for name in REQUIRED) + "\n",
        encoding="utf-8",
    )
    (run,) = read_runs(path)
    assert (run.case, run.expert_parallel, run.attention_data_parallel) == ("line 2", 1, 1)
    assert (run.engine, run.weights, run.gpu) == ("trtllm", "int4", "h200_sxm")
    assert run.model == "llama-3.1-70b"
    assert run.named == cells["model"]

"""Whose settings a run is simulated with, and that the reader is told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate import read_runs, validate_file
from calibration.validate.replay import scenario_of
from calibration.validate.told import told_of
from sim.errors import InputError
from sim.workload import Uniform

Row = Callable[..., str]
RunsFile = Callable[..., Path]
HEADER = (
    "case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,"
    "concurrency,input_tokens,output_tokens,measured_on,suspect,ttft_ms,tpot_ms"
)
R1 = {
    "model": "deepseek-ai/DeepSeek-R1",
    "gpu": "b200_sxm",
    "engine": "sglang",
    "weights": "fp8",
    "tensor_parallel": 8,
    "input_tokens": 1024,
    "output_tokens": 1024,
}


def test_a_run_of_the_suites_lengths_takes_its_script_unless_asked_not_to(
    runs_file: RunsFile, row: Row
) -> None:
    (run,) = read_runs(runs_file(row(**R1)))
    assert scenario_of(run).deployment.kv_precision == "fp8"  # --kv-cache-dtype fp8_e4m3
    assert scenario_of(run).deployment.max_batched_tokens == 32768
    own = scenario_of(run, "engine")
    assert own.deployment.kv_precision == "bf16"  # SGLang's `auto`
    assert own.deployment.max_batched_tokens == 16384  # SGLang's on 160 GB and more
    assert own.engine_options.chosen == {}


def test_a_run_of_other_lengths_is_nobodys_but_the_engines(runs_file: RunsFile, row: Row) -> None:
    (run,) = read_runs(runs_file(row(**(R1 | {"input_tokens": 1000}))))
    assert scenario_of(run) == scenario_of(run, "engine")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm", "generic"])
def test_lengths_are_means_only_where_the_suites_settings_are_asked_for(
    runs_file: RunsFile, row: Row, engine: str
) -> None:
    lengths = {"input_tokens": 1000, "output_tokens": 1000}
    (run,) = read_runs(runs_file(row(**(R1 | lengths | {"engine": engine}))))
    # AIConfigurator's lengths, which genai-perf takes for means; else 80 to 100 % of the longest.
    assert scenario_of(run).workload.input_tokens == Uniform(low=900, high=1100)
    assert scenario_of(run, "engine").workload.input_tokens == Uniform(low=800, high=1000)
    assert scenario_of(run, "engine").workload.output_tokens == Uniform(low=800, high=1000)


def test_the_reader_is_told_whose_lengths_were_taken_for_means(
    runs_file: RunsFile, row: Row
) -> None:
    means = row(case="means", input_tokens=1000, output_tokens=100) + ","
    shared = row(case="shared", input_tokens=1000, output_tokens=100) + ",1"
    runs = read_runs(runs_file(means, shared, row() + ",", header=HEADER + ",shortest_share"))
    told = told_of(runs, "suite")
    assert (told.means, told.suite) == (1, 0)
    assert told.to_json()["lengths_as_means"] == 1
    assert any(note.startswith("1 of 3 runs have the lengths of AICon") for note in told.notes)
    plain = told_of(runs, "engine")
    assert plain.means == 0
    assert "AIConfigurator" not in " ".join(plain.notes)


def test_columns_of_the_table_come_before_the_script(runs_file: RunsFile, row: Row) -> None:
    columns = ",kv_precision,max_batched_tokens,memory_fraction,stream_interval_tokens,decoding"
    said = row(**R1) + ",bf16,4096,0.7,5,autoregressive"
    silent = row(**(R1 | {"case": "b"})) + ",,,,,"
    told, other = read_runs(runs_file(said, silent, header=HEADER + columns))
    deployment = scenario_of(told).deployment
    assert (deployment.kv_precision, deployment.max_batched_tokens) == ("bf16", 4096)
    assert deployment.memory_fraction == 0.7
    assert scenario_of(told).engine_options.stream_interval_tokens == 5
    assert scenario_of(told).engine_options.pick_up_every_passes == 10  # the script's still holds
    assert scenario_of(other).deployment.max_batched_tokens == 32768


def test_columns_say_how_a_benchmark_drove_its_server(runs_file: RunsFile, row: Row) -> None:
    driven = row(input_tokens=1000) + ",7,1"
    (run,) = read_runs(runs_file(driven, header=HEADER + ",num_prompts,shortest_share"))
    assert scenario_of(run).run.requests == 7
    assert scenario_of(run).workload.input_tokens == Uniform(low=1000, high=1000)


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("kv_precision", "fp3", "line 2.*`kv_precision` should be"),
        ("max_batched_tokens", "many", "line 2.*`max_batched_tokens` should be"),
        ("memory_fraction", "1.5", "line 2.*`memory_fraction` should be"),
        ("hold_passes", "-1", "line 2.*`hold_passes` should be"),
        ("num_prompts", "true", "line 2.*`num_prompts` should be a whole number"),
        ("num_prompts", "0", "line 2.*`num_prompts` should be a whole number"),
        ("shortest_share", "2", "line 2.*`shortest_share` should be above 0 and at most 1"),
    ],
)
def test_a_cell_that_means_nothing_is_refused_by_line_and_column(
    runs_file: RunsFile, row: Row, column: str, cell: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_runs(runs_file(f"{row()},{cell}", header=f"{HEADER},{column}"))


def test_the_reader_is_told_whose_settings_stand_for_how_many_runs(
    runs_file: RunsFile, row: Row
) -> None:
    rows = [row(case="own") + ",fp8,3", row(case="theirs", **R1) + ",,3"]
    path = runs_file(*rows, header=HEADER + ",kv_precision,repeats")
    found = validate_file(path, workers=1)
    assert found.settings.suite == 1
    assert dict(found.settings.columns) == {"kv_precision": 1}
    notes = " ".join(found.notes)
    assert "1 of 2 runs have the lengths, model, GPU, engine and precision of InferenceX" in notes
    assert "--settings engine" in notes
    assert "not read: `repeats`" in notes
    document = json.loads(json.dumps(found.to_json()))
    assert document["settings"]["suite"] == document["settings"]["engine"] == 1
    assert document["notes"] == list(found.notes)
    plain = validate_file(path, workers=1, settings="engine")
    assert plain.settings.suite == 0
    assert "InferenceX" not in " ".join(plain.notes)

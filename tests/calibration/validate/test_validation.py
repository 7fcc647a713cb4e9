import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calibration.validate import Prediction, Refusal, error_tables, read_runs, validate_file
from calibration.validate import pool as pool_module
from calibration.validate.pool import predict_all
from sim.processes import Failed

Row = Callable[..., str]
RunsFile = Callable[..., Path]

STATS = {"n", "mean_ape", "median_ape", "p90_ape", "median_bias"}


def test_every_row_is_either_compared_or_refused(runs_file: RunsFile, row: Row) -> None:
    rows = [
        row(case="good"),
        row(case="moe", model="nobody/knows-8x7b"),
        row(case="odd", weights="fp3"),
        row(case="doubt", suspect=1),
        row(case="chip", gpu="abacus"),
    ]
    validation = validate_file(runs_file(*rows), workers=1)
    assert validation.rows == 5
    assert [compared.run.case for compared in validation.compared] == ["good", "doubt"]
    assert [refusal.case for refusal in validation.refused] == ["moe", "odd", "chip"]


def test_suspect_rows_are_in_no_other_figure(runs_file: RunsFile, row: Row) -> None:
    rows = [row(case="good"), row(case="doubt", suspect=1, ttft_ms=1e6)]
    validation = validate_file(runs_file(*rows), workers=1)
    assert validation.overall.ttft.n == 1
    assert validation.suspect.ttft.n == 1
    assert validation.suspect.ttft.median_bias == pytest.approx(-1, abs=0.001)


def test_the_json_object_has_the_agreed_keys(runs_file: RunsFile, row: Row) -> None:
    rows = [row(case="good"), row(case="many", concurrency=9), row(case="no", gpu="abacus")]
    found = json.loads(json.dumps(validate_file(runs_file(*rows), workers=1).to_json()))
    assert (found["rows"], found["simulated"]) == (3, 2)
    assert [entry["case"] for entry in found["refused"]] == ["no"]
    assert found["refused"][0]["reason"]
    assert {"tpot", "ttft"} == found["overall"].keys()
    assert STATS == found["overall"]["tpot"].keys() == found["overall"]["ttft"].keys()
    assert {"model", "gpu", "engine", "weights", "concurrency_band"} == found["by"].keys()
    bands = found["by"]["concurrency_band"]
    assert list(bands) == ["1-8", "9-32", "33-128", "129+"]
    assert [band["tpot"]["n"] for band in bands.values()] == [1, 1, 0, 0]
    assert found["by"]["gpu"]["h100_sxm"]["ttft"]["n"] == 2


def test_errors_are_fractions_of_the_measurement(runs_file: RunsFile, row: Row) -> None:
    (first,) = validate_file(runs_file(row()), workers=1).compared
    predicted = first.predicted
    twice = row(ttft_ms=2 * predicted.ttft_ms, tpot_ms=2 * (predicted.tpot_ms or 0))
    overall = validate_file(runs_file(twice), workers=1).overall
    assert overall.ttft.median_bias == pytest.approx(-0.5)
    assert overall.tpot.mean_ape == pytest.approx(0.5)


def test_the_tables_name_every_group_and_count_the_refused(runs_file: RunsFile, row: Row) -> None:
    rows = [row(), row(case="x", gpu="abacus"), row(case="y", gpu="abacus"), row(suspect=1)]
    tpot, ttft, refused = error_tables(validate_file(runs_file(*rows), workers=1))
    for table in (tpot, ttft):
        assert [line[0] for line in table.rows] == [
            *("all", "llama-3.1-8b", "h100_sxm", "vllm", "bf16", "1-8 users"),
            *("vllm on h100_sxm", "marked suspect (in no other row)"),
        ]
        assert all(line[1] == "1" for line in table.rows)
        assert all(len(line) == len(table.columns) for line in table.rows)
    assert refused.title == "Refused: 2"
    assert refused.rows[0][1:] == ("2", "x")


def test_the_longest_rows_go_first_and_results_come_in_the_order_of_the_table(
    runs_file: RunsFile, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []

    def in_a_process(function: Any, tasks: Any, workers: int, *, on_result: Any) -> list[Any]:
        given.extend((task.concurrency, workers) for task in tasks)
        travelled = pickle.loads(pickle.dumps(function))  # as it would to another process
        results = [pickle.loads(pickle.dumps(travelled(task))) for task in tasks]
        on_result(len(tasks))
        return [Failed("killed"), *results[1:]]

    monkeypatch.setattr(pool_module, "FEWEST_FOR_A_POOL", 2)
    monkeypatch.setattr(pool_module, "map_tasks", in_a_process)
    runs = read_runs(runs_file(row(case="a"), row(case="b", concurrency=5), row(gpu="abacus")))
    told: list[tuple[int, int]] = []
    first, second, third = predict_all(
        runs, "mean", workers=2, progress=lambda *done: told.append(done)
    )
    assert given == [(5, 2), (runs[0].concurrency, 2), (runs[2].concurrency, 2)]
    assert told == [(3, 3)]
    assert isinstance(first, Prediction)
    assert second == Refusal("b", "killed")
    assert isinstance(third, Refusal)
    assert "abacus" in third.reason

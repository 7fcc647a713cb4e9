"""docs/blind.md: the table of published runs, and what is predicted of them today."""

import csv
from pathlib import Path

import pytest

from calibration import blind
from calibration.benchmarks import read_file, validate_benchmark
from calibration.benchmarks.result import Beside, Driven
from calibration.benchmarks.validation import predict
from calibration.blind_causes import OTHER, causes_of
from calibration.importers import Benchmark

PAGE = blind.DOCUMENT.read_text(encoding="utf-8")
QUICK = ("cookbook-llama-01", "vllm-23151-01", "trtllm-docs-61", "lambda-09", "a100-pcie-01")


@pytest.fixture(scope="module")
def runs() -> dict[str, Benchmark]:
    found = read_file(blind.RUNS, "mean")
    return {run.case: run for run in found if isinstance(run, Benchmark)}


def _lines() -> dict[str, list[str]]:
    cells = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    return {row[0]: row for row in cells}


def test_every_run_of_the_table_stands_on_the_page_with_a_source(
    runs: dict[str, Benchmark],
) -> None:
    assert set(runs) <= set(_lines())
    assert f"{len(runs)} runs from " in PAGE
    with blind.SOURCES.open(encoding="utf-8", newline="") as file:
        pages = {row["source"]: row["where"] for row in csv.DictReader(file)}
    assert {case.rpartition("-")[0] for case in runs} == set(pages)
    assert all(where in PAGE for where in pages.values())


def test_rates_that_pages_print_are_those_that_their_totals_make(
    runs: dict[str, Benchmark],
) -> None:
    """Of one user: tokens of all answers over all latencies (a slip of the pen breaks it)."""
    alone = [run for run in runs.values() if run.users == 1 and "ttft_mean_ms" in run.figures]
    assert len(alone) >= 10
    for run in alone:
        made = run.outputs.mean
        latency_ms = run.figures["ttft_mean_ms"] + run.figures["tpot_mean_ms"] * (made - 1)
        assert made / latency_ms * 1000 == pytest.approx(
            run.figures["output_tokens_per_s"], rel=0.03
        )


def test_no_run_makes_more_tokens_than_its_users_can(runs: dict[str, Benchmark]) -> None:
    """Each of so many users has a token an ITL at most; one page contradicts itself."""
    known = {
        case: run
        for case, run in runs.items()
        if run.users is not None and {"itl_mean_ms", "output_tokens_per_s"} <= run.figures.keys()
    }
    assert len(known) >= 20
    beyond = {
        case
        for case, run in known.items()
        if run.figures["output_tokens_per_s"] * run.figures["itl_mean_ms"]
        > 1000 * run.users * 1.02  # type: ignore[operator]
    }
    assert beyond == {"cookbook-llama4-03"}


@pytest.mark.parametrize("case", QUICK)
def test_the_page_holds_what_is_predicted_today(runs: dict[str, Benchmark], case: str) -> None:
    driven = predict(runs[case], None)
    assert isinstance(driven, Driven)
    stands = _lines()[case][8].split(" for ")[0].replace(",", "")
    assert driven.figures["output_tokens_per_s"] == pytest.approx(float(stands), rel=0.05)


def test_a_run_has_the_causes_of_its_case() -> None:
    names = [cause.name for cause in causes_of("cookbook-glm-09")]
    assert names == ["prompts seen before", "untuned experts"]
    assert [cause.name for cause in causes_of("trtllm-docs-77")] == ["kernels of one shape"]
    assert [cause.name for cause in causes_of("trtllm-docs-07")] == ["thousands of sequences"]
    assert causes_of("somebody-01") == (OTHER,)


def test_the_page_is_the_same_for_the_same_table(tmp_path: Path) -> None:
    table, sources = tmp_path / "runs.csv", tmp_path / "sources.csv"
    table.write_text(
        "case,model,gpu,engine,weights,num_prompts,input_tokens,output_tokens,"
        "output_tokens_per_s,unstated\n"
        "x-01,llama-3.1-8b,H100,vLLM,fp8,4,64,8,100,version; settings\n",
        encoding="utf-8",
    )
    sources.write_text("source,where,version,what\nx,https://x.org,1,a run\n", encoding="utf-8")
    validation = validate_benchmark(table)
    once = blind.document(validation, table, sources)
    assert once == blind.document(validate_benchmark(table), table, sources)
    assert "| settings | 1 |" in once
    assert "[x](https://x.org)" in once
    (row,) = validation.compared
    assert isinstance(row, Beside)
    assert " | ".join(blind.line_of(row)[:6]) in once


def test_a_wrong_table_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert blind.main([str(tmp_path / "none.csv")]) == 2
    assert "no such file" in capsys.readouterr().err

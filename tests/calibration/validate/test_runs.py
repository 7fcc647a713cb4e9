import re
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate.runs import REQUIRED, read_runs
from sim.errors import InputError

Row = Callable[..., str]
RunsFile = Callable[..., Path]


def test_a_row_is_read_with_its_units_and_surplus_columns_are_ignored(
    runs_file: RunsFile, row: Row
) -> None:
    (run,) = read_runs(runs_file(row(case="x", tensor_parallel="2.0", suspect=1)))
    assert (run.case, run.tensor_parallel, run.concurrency) == ("x", 2, 2)
    assert (run.ttft_ms, run.tpot_ms, run.suspect) == (10.0, 5.0, True)


@pytest.mark.parametrize("column", REQUIRED)
def test_a_missing_column_is_named(runs_file: RunsFile, column: str) -> None:
    header = ",".join(name for name in REQUIRED if name != column)
    with pytest.raises(InputError, match=f"column is missing: `{column}`"):
        read_runs(runs_file("1", header=header))


def test_all_missing_columns_are_named_at_once(runs_file: RunsFile) -> None:
    header = ",".join(name for name in REQUIRED if name not in {"gpu", "tpot_ms"})
    with pytest.raises(InputError, match="columns are missing: `gpu`, `tpot_ms`"):
        read_runs(runs_file("1", header=header))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("ttft_ms", "nan"),
        ("ttft_ms", "inf"),
        ("ttft_ms", "-3"),
        ("ttft_ms", ""),
        ("tpot_ms", "0"),
        ("tpot_ms", "fast"),
        ("tpot_ms", ""),
        ("concurrency", "0"),
        ("concurrency", "2.5"),
        ("concurrency", "nan"),
        ("concurrency", "1e99"),
        ("input_tokens", "-1"),
        ("tensor_parallel", "two"),
        ("suspect", "maybe"),
        ("model", ""),
    ],
)
def test_a_bad_value_is_one_sentence_with_line_and_column(
    runs_file: RunsFile, row: Row, column: str, value: str
) -> None:
    with pytest.raises(InputError, match=rf"line 3: `{column}`") as error:
        read_runs(runs_file(row(), row(**{column: value})))
    assert "\n" not in str(error.value)


def test_answers_of_one_token_need_no_tpot(runs_file: RunsFile, row: Row) -> None:
    (run,) = read_runs(runs_file(row(output_tokens=1, tpot_ms="")))
    assert run.tpot_ms is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"\xff\xfe\x00a,b", "not a CSV file"),
        (b"a,b,c\n1,2,3\n", "columns are missing: `model`, `gpu`"),
        (",".join([*REQUIRED, "gpu"]).encode(), "the column `gpu` is given twice"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_runs(path)


def test_a_table_without_rows_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(",".join(REQUIRED) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no rows"):
        read_runs(path)
    with pytest.raises(InputError, match="a directory"):
        read_runs(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_runs(tmp_path / "none.csv")


def test_a_row_that_is_cut_short_is_named(runs_file: RunsFile, row: Row) -> None:
    with pytest.raises(InputError, match=re.escape("line 3 has 3 cells, the header 15")):
        read_runs(runs_file(row(), "b,llama-3.1-8b,h100_sxm"))


def test_engines_and_formats_are_known_however_people_spell_them(
    runs_file: Callable[..., Path], row: Callable[..., str]
) -> None:
    (run,) = read_runs(runs_file(row(engine="vLLM", weights="FP8", gpu="NVIDIA H100")))
    assert (run.engine, run.weights, run.gpu) == ("vllm", "fp8", "h100_sxm")
    (run,) = read_runs(runs_file(row(engine="TensorRT-LLM")))
    assert run.engine == "trtllm"
    (run,) = read_runs(runs_file(row(engine="Ours/Preset.yaml")))
    assert run.engine == "Ours/Preset.yaml"


def test_a_header_without_rows_gets_an_example_row(runs_file: Callable[..., Path]) -> None:
    header = ",".join(REQUIRED)
    with pytest.raises(InputError, match=r"such as `llama-3.1-8b,h100_sxm,vllm,fp8,1,16"):
        read_runs(runs_file("", header=header))

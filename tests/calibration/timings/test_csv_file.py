"""Timings from a CSV file: units in the column, and what is wrong named by line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.timings import write_timings
from calibration.timings.csv_file import import_csv
from sim.errors import InputError

HEAD = "operation,precision,gpu,engine,engine_version,latency_s,tokens,outer,inner,source"
ROW = "gemm,bf16,NVIDIA H200,torch,2.9,3e-5,16,4096,4096,mine"


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: str, header: str = HEAD) -> Path:
        path = tmp_path / "timings.csv"
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    return write


def test_a_drivers_name_becomes_that_of_a_profile(table: Callable[..., Path]) -> None:
    timings = import_csv(table(ROW))
    assert timings.texts("gpu") == ("h200_sxm",)
    assert timings.number("latency_s")[0] == 3e-5


@pytest.mark.parametrize(("unit", "cell"), [("ms", "0.03"), ("us", "30")])
def test_the_unit_stands_in_the_column(table: Callable[..., Path], unit: str, cell: str) -> None:
    header = HEAD.replace("latency_s", f"latency_{unit}")
    timings = import_csv(table(ROW.replace("3e-5", cell), header=header))
    assert timings.number("latency_s")[0] == pytest.approx(3e-5)


def test_what_the_file_lacks_can_be_named(table: Callable[..., Path]) -> None:
    path = table("gemm,bf16,3e-5,16,4096,4096",
                 header="operation,precision,latency_s,tokens,outer,inner")  # fmt: skip
    timings = import_csv(path, gpu="l40s", engine="torch")
    assert timings.texts("gpu") == ("l40s",)
    assert timings.texts("source") == ("timings.csv",)
    with pytest.raises(InputError, match=r"has no (gpu|engine)"):
        import_csv(path)


@pytest.mark.parametrize(
    ("row", "header", "problem"),
    [
        (ROW.replace("3e-5", "nan"), HEAD, "line 2: `latency_s` should hold number"),
        (ROW.replace("3e-5", "-1"), HEAD, "line 2: `latency_s` should be a number above 0"),
        (ROW.replace("3e-5", "3000"), HEAD, "line 2: `latency_s` of 3000 is 3e[+]03 s, which no"),
        (ROW.replace("16,", "16.5,"), HEAD, "line 2: `tokens` should hold integer"),
        (ROW.replace("16,", f"{10**19},"), HEAD, "a number of more than 64 bits"),
        (ROW.replace("gemm", "gem"), HEAD, "unknown operation `gem`"),
        (f"{ROW}\n{ROW}", HEAD, "line 3 repeats line 2"),
        (f"{ROW}\n{ROW.replace('3e-5', '4e-5')}", HEAD, "rows 1 and 2 time the same one"),
        (ROW, HEAD.replace("tokens", "m"), "unknown column `m`"),
        (ROW, HEAD.replace("latency_s", "source_"), "needs one column `latency_s`"),
        ("gemm,bf16", HEAD, "line 2 has 2 cells"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(
    table: Callable[..., Path], row: str, header: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        import_csv(table(row, header=header))
    assert "\n" not in str(caught.value)


def test_nothing_is_written_where_the_folder_cannot_be(
    table: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file, not a folder"):
        write_timings(import_csv(table(ROW)), tmp_path / "file" / "t.parquet")
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_slip_of_units_names_the_line_and_the_column_of_the_file(
    table: Callable[..., Path],
) -> None:
    header = HEAD.replace("latency_s", "latency_us")
    path = table(ROW.replace("3e-5", "30"), ROW.replace("3e-5", "0.03"), header=header)
    with pytest.raises(InputError, match=r"line 3: `latency_us` of 0\.03 is 3e-08 s, which no"):
        import_csv(path)

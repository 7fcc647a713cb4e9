"""Timings are refused whole, in one sentence, when something in them cannot be."""

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration.timings import COLUMNS, checked, from_columns, read_timings, write_timings
from sim.errors import InputError

FACTS = {
    "operation": "gemm",
    "precision": "bf16",
    "gpu": "h100_sxm",
    "engine": "vllm",
    "engine_version": "0.24.0",
    "source": "made up for a test",
}


def gemms(**changes: Any) -> pa.Table:
    columns: dict[str, Any] = {
        **FACTS,
        "latency_s": [1e-5, 2e-5, 4e-5],
        "tokens": [1, 2, 3],
        "outer": 4096,
        "inner": 4096,
        **changes,
    }
    return from_columns(columns, 3)


def test_a_table_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    path = write_timings(checked(gemms(), "a test"), tmp_path / "timings.parquet")
    found = read_timings(path)
    assert found.number("latency_s").tolist() == [1e-5, 2e-5, 4e-5]
    assert found.texts("engine") == ("vllm",)
    assert math.isnan(found.number("heads")[0])
    assert len(found.where(operation="gemm", precision=["bf16", "fp8"])) == 3
    assert len(found.where(operation="experts")) == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"latency_s": [1e-5, math.nan, 2e-5]}, "1 row without a positive latency.*row 2"),
        ({"latency_s": [1e-5, 2e-5, -1.0]}, "row 3"),
        ({"latency_s": [1e-5, 2e-5, math.inf]}, "row 3"),
        ({"latency_s": [40.0, 2e-5, 3e-5]}, "row 1 has a latency of 40 s.*in seconds"),
        ({"latency_s": [4e-9, 2e-5, 3e-5]}, "row 1 has a latency of 4e-09 s"),
        ({"tokens": [1, 2, 2]}, "1 kernel given more than once: rows 2 and 3"),
        ({"operation": "matmul"}, "unknown operation `matmul`"),
        ({"precision": "fp7"}, "unknown precision `fp7`"),
        ({"inner": None}, "row 1, of gemm, has no inner"),
        ({"tokens": [0, 1, 2]}, "row 1, of gemm, has no tokens, or less than 1"),
        ({"gpu": None}, "row 1 has no gpu"),
    ],
)
def test_a_row_that_cannot_be_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked(gemms(**changes), "a test")


def test_columns_that_lack_or_are_unknown_are_named() -> None:
    with pytest.raises(InputError, match="lacks the column latency_s"):
        checked(gemms().drop_columns(["latency_s"]), "a test")
    odd = gemms().append_column("latency_ms", pa.array([1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match="unknown column latency_ms"):
        checked(odd, "a test")
    text = gemms().set_column(
        gemms().column_names.index("latency_s"), "latency_s", pa.array(["a", "b", "c"])
    )
    with pytest.raises(InputError, match="latency_s should hold number values"):
        checked(text, "a test")
    with pytest.raises(InputError, match="holds no kernel"):
        checked(gemms().slice(0, 0), "a test")


def test_the_index_that_pandas_writes_of_a_part_is_no_column() -> None:
    part = gemms().append_column("__index_level_0__", pa.array([7, 3, 5]))
    assert len(checked(part, "a test").table) == 3


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write_timings(checked(gemms(), "a test"), tmp_path / "timings.parquet")
    whole = path.read_bytes()
    for content, problem in (
        (whole[:-20], "this Parquet file is cut off"),
        (whole[:500] + bytes(200) + whole[700:], "damaged"),
        (b"", "the file is empty"),
        (b"operation,precision", "calibrate import csv FILE"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=problem) as caught:
            read_timings(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="a directory, not a file"):
        read_timings(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_timings(tmp_path / "missing.parquet")


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "timings.parquet"
    pq.write_table(gemms().replace_schema_metadata({"paretoken_timings_version": "2"}), path)
    with pytest.raises(InputError, match="version 2 of the timings schema"):
        read_timings(path)


def test_every_column_says_what_it_means() -> None:
    assert all(spec.doc for spec in COLUMNS.values())

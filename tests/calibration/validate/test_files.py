import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate import validate_file, write_files
from calibration.validate.files import parity_page
from sim.errors import InputError

Row = Callable[..., str]
RunsFile = Callable[..., Path]


def test_rows_csv_has_one_line_a_simulated_run(
    runs_file: RunsFile, row: Row, tmp_path: Path
) -> None:
    rows = [row(case="b"), row(case="a", output_tokens=1, tpot_ms=""), row(case="c", gpu="abacus")]
    validation = validate_file(runs_file(*rows), workers=1)
    written = write_files(validation, tmp_path / "new" / "folder")
    assert [path.name for path in written] == ["rows.csv", "parity.html"]
    with written[0].open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == [
        *("case", "predicted_ttft_ms", "predicted_tpot_ms", "ttft_ms", "tpot_ms"),
        "seconds_to_simulate",
    ]
    assert [line["case"] for line in table] == ["b", "a"]
    assert float(table[0]["ttft_ms"]) == 10
    assert table[1]["predicted_tpot_ms"] == table[1]["tpot_ms"] == ""
    assert float(table[1]["seconds_to_simulate"]) > 0


def test_the_parity_page_is_complete_in_itself_and_leaves_suspect_rows_out(
    runs_file: RunsFile, row: Row
) -> None:
    rows = [row(case="seen"), row(case="doubtful", suspect=1)]
    page = parity_page(validate_file(runs_file(*rows), workers=1))
    assert "seen" in page
    assert "doubtful" not in page
    assert "<script src=" not in page
    assert {"parity-tpot", "parity-ttft"} <= set(page.split('"'))


def test_a_table_of_refusals_alone_still_makes_its_files(
    runs_file: RunsFile, row: Row, tmp_path: Path
) -> None:
    validation = validate_file(runs_file(row(gpu="abacus")), workers=1)
    rows, parity = write_files(validation, tmp_path / "out")
    assert rows.read_text(encoding="utf-8").count("\n") == 1
    assert parity.is_file()


def test_a_place_that_cannot_be_written_is_one_sentence(
    runs_file: RunsFile, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_files(validate_file(runs_file(), workers=1), tmp_path / "file")

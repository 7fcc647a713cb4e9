"""Against real measured runs, where they are at hand: a sample, so that it stays fast."""

import csv
from pathlib import Path

import pytest

from calibration.validate import Validation, validate_file

EVERY = 9
"""Every so many rows of the file."""


@pytest.fixture(scope="module")
def sample(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Validation:
    source = shared_data / "measured" / "serving_runs.csv"
    if not source.is_file():
        pytest.skip(f"no measured runs at {source}")
    with source.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    few = [row for row in rows if int(row[header.index("concurrency")]) <= 64][::EVERY]
    path = tmp_path_factory.mktemp("runs") / "sample.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *few])
    return validate_file(path, workers=1)


@pytest.mark.truth
def test_dense_runs_come_out_within_ten_percent_of_tpot_without_any_fit(
    sample: Validation,
) -> None:
    tpot = sample.overall.tpot
    assert tpot.n >= 10
    assert tpot.median_ape is not None
    assert tpot.median_ape < 0.10
    assert abs(tpot.median_bias or 0) < 0.10


def test_no_measured_row_is_refused(sample: Validation) -> None:
    assert sample.refused == ()


def test_no_row_takes_longer_than_a_few_seconds(sample: Validation) -> None:
    assert all(row.predicted.seconds_to_simulate < 10 for row in sample.compared)

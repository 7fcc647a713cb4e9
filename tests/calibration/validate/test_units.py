"""A slip of units is a factor of a thousand, and nothing else is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate import validate_file
from calibration.validate.units import check_units, doubtful_units
from sim.errors import InputError


@pytest.mark.parametrize(("factor", "unit"), [(1000.0, "µs"), (0.001, "seconds")], ids=["us", "s"])
def test_a_factor_of_a_thousand_is_refused(factor: float, unit: str) -> None:
    pairs = [(10.0, 9.0 * factor), (20.0, 25.0 * factor), (None, 3.0)]
    with pytest.raises(InputError, match=f"as if it were in {unit}; give it in milliseconds"):
        check_units("tpot_ms", pairs, where="runs.csv")


def test_a_bad_prediction_is_none() -> None:
    check_units("ttft_ms", [(10.0, 900.0), (10.0, 0.2), (5.0, 5.0)], where="runs.csv")
    check_units("ttft_ms", [], where="runs.csv")


def test_a_table_in_microseconds_is_refused(
    runs_file: Callable[..., Path], row: Callable[..., str]
) -> None:
    with pytest.raises(InputError, match=r"`tpot_ms` is .* times the prediction"):
        validate_file(runs_file(row(tpot_ms=7_000, ttft_ms=15)))


def test_a_row_twice_is_refused(runs_file: Callable[..., Path], row: Callable[..., str]) -> None:
    with pytest.raises(InputError, match="line 3 repeats line 2"):
        validate_file(runs_file(row(), row()))


def test_single_rows_in_other_units_are_named_and_still_counted(
    runs_file: Callable[..., Path], row: Callable[..., str]
) -> None:
    rows = [row(case="a"), row(case="b", concurrency=3), row(case="off", ttft_ms=15_000)]
    found = validate_file(runs_file(*rows))
    assert len(found.sound) == 3
    assert [note for note in found.notes if "`ttft_ms`" in note and "in off (" in note]


def test_many_doubtful_rows_are_counted_not_listed() -> None:
    rows = [(str(place), 10.0, 10_000.0) for place in range(5)]
    (note,) = doubtful_units("tpot_ms", rows)
    assert "0 (1,000 times), 1 (1,000 times), 2 (1,000 times) and 2 more" in note
    assert list(doubtful_units("tpot_ms", [("a", None, 3.0), ("b", 10.0, 900.0)])) == []

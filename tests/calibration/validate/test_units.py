"""A slip of units is a factor of a thousand, and nothing else is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate import validate_file
from calibration.validate.units import check_units
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

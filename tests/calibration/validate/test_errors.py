import pytest

from calibration.validate.errors import concurrency_band, error_stats, relative_error


def test_an_error_is_relative_to_the_measurement() -> None:
    assert relative_error(12.0, 10.0) == pytest.approx(0.2)
    assert relative_error(8.0, 10.0) == pytest.approx(-0.2)


def test_statistics_of_ten_errors_worked_out_by_hand() -> None:
    # sizes 1..10 %, every second one negative: mean 5.5, median 5.5, p90 = 9 + 0.1 x 1 = 9.1 %
    errors = [0.01 * k * (-1) ** k for k in range(1, 11)]
    stats = error_stats(errors)
    assert stats.n == 10
    assert stats.mean_ape == pytest.approx(0.055)
    assert stats.median_ape == pytest.approx(0.055)
    assert stats.p90_ape == pytest.approx(0.091)
    # signed: -1 2 -3 4 -5 6 -7 8 -9 10, so the middle two are -1 and 2
    assert stats.median_bias == pytest.approx(0.005)


def test_no_rows_have_no_errors_rather_than_zero() -> None:
    stats = error_stats([None])
    assert (stats.n, stats.mean_ape, stats.p90_ape, stats.median_bias) == (0, None, None, None)


@pytest.mark.parametrize(
    ("users", "band"),
    [(1, "1-8"), (8, "1-8"), (9, "9-32"), (33, "33-128"), (128, "33-128"), (129, "129+")],
)
def test_bands_of_concurrency_are_closed_above(users: int, band: str) -> None:
    assert concurrency_band(users) == band

from math import exp, inf, sqrt

import pytest

from sim.metrics.calibration_share import factors, whole


def test_ninety_per_cent_of_a_normal_law_lie_within_the_two_factors() -> None:
    faster, slower = factors(0.2)
    assert (faster, slower) == pytest.approx((exp(-1.645 * 0.2), exp(1.645 * 0.2)))


def test_independent_errors_add_up_as_squares_on_each_side() -> None:
    # 3 and 4 below it make 5, and 5 and 12 above it 13.
    assert whole(100.0, (97.0, 105.0), (96.0, 112.0)) == pytest.approx((95, 113))


def test_what_does_not_depend_on_the_times_keeps_its_interval() -> None:
    assert whole(10.0, (9.0, 12.0), (10.0, 10.0)) == pytest.approx((9, 12))


def test_a_figure_that_falls_on_both_sides_gains_on_the_lower_side_only() -> None:
    # A share inside the targets near 100 %: either way it does not get better.
    low, high = whole(0.99, (0.98, 1.0), (0.99, 0.9)) or (0, 0)
    assert low == pytest.approx(0.99 - sqrt(0.01**2 + 0.09**2))
    assert high == pytest.approx(1.0)


def test_where_longer_times_overload_there_is_no_upper_end() -> None:
    low, high = whole(10.0, (9.0, 12.0), (8.0, None)) or (0, 0)
    assert low == pytest.approx(10 - sqrt(1 + 4))
    assert high == inf


def test_without_a_figure_or_its_sampling_there_is_nothing_to_widen() -> None:
    assert whole(None, (1.0, 2.0), (1.0, 1.0)) is None
    assert whole(1.0, None, (1.0, 1.0)) is None

from math import lgamma, log, pi

import numpy as np
import pytest

from sim.metrics.intervals import (
    correlation_factor,
    mean_interval,
    rate_interval,
    share_interval,
    student_t95,
)


@pytest.mark.parametrize("df", range(1, 31))
def test_the_table_of_student_t_leaves_five_percent_above(df: int) -> None:
    grid = np.linspace(0, student_t95(df), 20_001)
    log_scale = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * log(df * pi)
    density = np.exp(log_scale - (df + 1) / 2 * np.log1p(grid**2 / df))
    below = 0.5 + float(np.trapezoid(density, grid))
    # Three decimals of t are 5e-5 of probability.
    assert below == pytest.approx(0.95, abs=6e-5)


def test_batches_of_ten_give_the_interval_of_a_text_book() -> None:
    means = np.array([4.0, 6.0, 5.0, 7.0, 3.0])
    values = np.repeat(means, 10)
    # sd of the means sqrt(2.5); r = (-1 + 0 + 0 - 4) / 10 < 0: no correction. t(4) = 2.132.
    half = 2.132 * np.sqrt(2.5 / 5)
    assert mean_interval(values) == pytest.approx((5 - half, 5 + half))


def test_fewer_than_fifty_values_have_no_interval() -> None:
    assert mean_interval(np.arange(49.0)) is None
    assert mean_interval(np.arange(50.0)) is not None


def test_neighbours_that_are_alike_widen_the_interval_and_opposites_do_not() -> None:
    # Deviations -1 -1 1 1: squares 4, products of neighbours 1 - 1 + 1 = 1, r = 1/4.
    assert correlation_factor(np.array([0.0, 0.0, 2.0, 2.0])) == pytest.approx(1.25 / 0.75)
    assert correlation_factor(np.array([0.0, 2.0, 0.0, 2.0])) == 1
    assert correlation_factor(np.full(5, 3.0)) == 1


def test_the_interval_of_a_rate_is_that_of_its_logarithm() -> None:
    # The batches of the text book: 2.132 sqrt(2.5 / 5) is 0.3015 of their mean 5.
    ratio = np.exp(2.132 * np.sqrt(2.5 / 5) / 5)
    rates = np.array([4.0, 6.0, 5.0, 7.0, 3.0])
    assert rate_interval(rates) == pytest.approx((5 / ratio, 5 * ratio))


def test_no_rate_is_negative_however_much_its_slices_differ() -> None:
    # On the plain scale: 2 -/+ 2.132 x 2.
    low, high = rate_interval(np.array([0.0, 0.0, 10.0, 0.0, 0.0])) or (-1, -1)
    assert 0 < low < 2 < high
    assert rate_interval(np.zeros(5)) is None


def test_a_rate_that_is_steady_has_the_plain_interval() -> None:
    rates = np.tile([99.0, 101.0], 10)
    low, high = rate_interval(rates) or (0, 0)
    half = student_t95(19) * rates.std(ddof=1) / np.sqrt(20)
    assert (100 - low, high - 100) == pytest.approx((half, half), rel=0.01)


def test_a_thousand_out_of_a_thousand_is_not_certainty() -> None:
    # Clopper and Pearson: p^n = 5 %.
    assert share_interval(np.full(1000, True)) == pytest.approx((0.997009, 1), abs=1e-6)
    assert share_interval(np.full(1000, False)) == pytest.approx((0, 0.002991), abs=1e-6)
    assert share_interval(np.array([], dtype=bool)) is None


def test_the_interval_of_a_share_stays_a_share() -> None:
    hits = np.full(60, True)
    hits[0] = False
    low, high = share_interval(hits) or (-1, -1)
    assert 0 <= low < 59 / 60 < high <= 1

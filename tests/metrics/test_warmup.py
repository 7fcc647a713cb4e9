import numpy as np

from sim.metrics.warmup import mser5, warmup_requests


def test_mser5_cuts_where_the_error_of_the_rest_is_least() -> None:
    # Means of five: 10 2 1 2 1 2 1 2. Sums of squares of the rest over (8 - d)^2:
    # d=0: 63.875/64 = 0.998; d=1: 12/7/49 = 0.035; d=2: 1.5/36 = 0.0417; d=3: 1.2/25 = 0.048.
    series = np.repeat([10.0, 2, 1, 2, 1, 2, 1, 2], 5)
    assert mser5(series) == 5


def test_a_constant_series_loses_nothing_even_with_rounding() -> None:
    noise = np.random.default_rng(0).normal(0, 1e-15, 500)
    assert mser5(np.full(500, 3.7) + noise) == 0
    assert mser5(np.full(500, 0.0)) == 0


def test_no_more_than_half_is_ever_cut() -> None:
    assert mser5(np.arange(1000.0)) == 500


def test_too_short_a_series_loses_nothing() -> None:
    assert mser5(np.arange(9.0)) == 0
    assert mser5(np.array([])) == 0


def test_requests_that_never_finished_keep_their_place_in_the_count() -> None:
    ttlt = np.concatenate([[np.nan, 1, 1, np.nan, 1, 1, 1], np.tile([9.0, 10.0], 50)])
    # Five values of 1 are seven requests.
    assert warmup_requests(ttlt) == 7


def test_a_slow_start_is_a_burst_and_stays() -> None:
    burst = np.concatenate([np.full(20, 30.0), np.tile([9.0, 10.0], 50)])
    assert mser5(burst) == 20
    assert warmup_requests(burst) == 0

"""Differences between two runs of the same requests."""

import numpy as np
import pytest

from sim.metrics.paired import differences


def test_what_is_alike_in_both_runs_cancels_out() -> None:
    rng = np.random.default_rng(0)
    one = rng.exponential(1.0, 5_000)
    apart = differences(one, one + 0.01, seed=0)
    for statistic in ("mean", "p50", "p90", "p99"):
        difference = apart[statistic]
        assert difference.value == pytest.approx(0.01)
        assert difference.interval == pytest.approx((0.01, 0.01))
        assert difference.clear


def test_two_runs_that_differ_by_noise_alone_cannot_be_told_apart() -> None:
    clear = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        one, two = rng.exponential(1.0, 2_000), rng.exponential(1.0, 2_000)
        clear += differences(one, two, seed)["p50"].clear
    assert clear <= 10  # 90 % intervals: four of forty on average, ten once in 500


def test_a_real_difference_is_seen_and_has_its_sign() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.exponential(1.0, 5_000), rng.exponential(1.3, 5_000)
    apart = differences(one, two, seed=1)["mean"]
    assert apart.clear
    assert apart.value == pytest.approx(0.3, abs=0.1)
    assert apart.interval is not None
    assert apart.interval[0] < 0.3 < apart.interval[1]


def test_only_requests_with_a_value_in_both_runs_count_and_few_show_no_percentile() -> None:
    one, two = np.arange(40.0), np.arange(40.0)
    two[:10] = np.nan
    apart = differences(one, two + 2, seed=0)
    assert set(apart) == {"mean", "p50"}  # p90 needs 100 requests
    assert apart["mean"].value == pytest.approx(2)
    assert apart["mean"].interval is None
    assert not apart["mean"].clear


def test_nothing_in_common_gives_nothing() -> None:
    assert differences(np.full(3, np.nan), np.arange(3.0), seed=0) == {}

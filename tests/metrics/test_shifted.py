import numpy as np
import pytest

from sim.metrics.shifted import mapped

RNG = np.random.default_rng(7)


def test_a_part_that_takes_twice_as_long_doubles_everything() -> None:
    part = RNG.exponential(size=500)
    run = RNG.exponential(size=4000)
    assert mapped(run, part, 2 * part) == pytest.approx(2 * run)


def test_the_change_is_that_of_the_same_value_not_of_the_same_rank() -> None:
    # Short times double and long ones stay: wherever a run has more long ones than its part.
    part = np.concatenate([RNG.uniform(1, 2, 900), RNG.uniform(50, 60, 100)])
    served = np.where(part < 10, 2 * part, part)
    run = np.array([1.5, 55.0, 55.0, 55.0])
    assert mapped(run, part, served) == pytest.approx([3.0, 55.0, 55.0, 55.0], rel=0.02)


def test_waits_of_exponential_law_go_over_into_those_of_another_rate() -> None:
    # Quantiles of Exp(1 / mean) are proportional to the mean, whichever draws it is seen in.
    before, after = RNG.exponential(1.0, 20_000), RNG.exponential(1.3, 20_000)
    now = mapped(RNG.exponential(1.0, 100_000), before, after)
    assert now.mean() == pytest.approx(1.3, rel=0.03)
    assert np.quantile(now, 0.9) == pytest.approx(-1.3 * np.log(0.1), rel=0.04)


def test_requests_without_the_figure_stay_without_and_do_not_disturb() -> None:
    part = np.array([np.nan, 1.0, 2.0, np.nan, 4.0])
    now = mapped(np.array([np.nan, 2.0]), part, 3 * part)
    assert np.isnan(now[0])
    assert now[1] == pytest.approx(6.0)
    nothing = np.full(3, np.nan)
    assert mapped(np.array([1.0]), nothing, nothing) == pytest.approx([1.0])

"""Arrival processes against theory; tolerances are four standard errors."""

import numpy as np
import pytest

from sim.workload import Constant, Gamma, Poisson, stream

COUNT = 200_000


def gaps_s(process: Poisson | Gamma | Constant, seed: int = 0) -> np.ndarray:
    times_s = process.times_s(COUNT, stream(seed, "arrivals"))
    return np.diff(times_s, prepend=0.0)


@pytest.mark.truth
@pytest.mark.parametrize("rate", [0.5, 8.0, 4000.0])
def test_poisson_gaps_have_the_mean_and_the_spread_of_an_exponential(rate: float) -> None:
    gaps = gaps_s(Poisson(requests_per_s=rate))
    assert abs(gaps.mean() * rate - 1) < 4 / np.sqrt(COUNT)
    # the sample CV of n exponentials has a standard error of 1/sqrt(n)
    assert abs(gaps.std() / gaps.mean() - 1) < 4 / np.sqrt(COUNT)


@pytest.mark.truth
def test_counts_of_a_poisson_process_have_a_variance_equal_to_their_mean() -> None:
    times_s = Poisson(requests_per_s=10.0).times_s(COUNT, stream(1, "arrivals"))
    windows = int(times_s[-1])
    counts = np.histogram(times_s, bins=windows, range=(0, windows))[0]
    # Var(s²)/mean² = (2 + 1/mean)/n for a Poisson count
    assert abs(counts.var(ddof=1) / counts.mean() - 1) < 4 * np.sqrt(2.1 / windows)


@pytest.mark.truth
@pytest.mark.parametrize("cv", [0.3, 1.0, 1.5, 3.0])
def test_gamma_gaps_have_the_asked_coefficient_of_variation(cv: float) -> None:
    gaps = gaps_s(Gamma(requests_per_s=5.0, cv=cv))
    assert abs(gaps.mean() * 5.0 - 1) < 4 * cv / np.sqrt(COUNT)
    excess_kurtosis = 6 * cv * cv  # of a gamma of shape 1/cv²
    standard_error = cv * cv * np.sqrt((excess_kurtosis + 2) / COUNT)
    assert abs(gaps.var() * 25.0 - cv * cv) < 4 * standard_error
    assert standard_error < 0.05 * cv * cv  # or a slip of 20 % could pass


def test_constant_arrivals_come_every_1_over_rate_seconds() -> None:
    times_s = Constant(requests_per_s=4.0).times_s(3, stream(0, "arrivals"))
    assert times_s.tolist() == [0.25, 0.5, 0.75]


@pytest.mark.parametrize("process", [Poisson(requests_per_s=2.0), Gamma(requests_per_s=2.0, cv=2)])
def test_another_rate_stretches_the_same_arrivals(process: Poisson | Gamma) -> None:
    faster = process.model_copy(update={"requests_per_s": 4.0})
    slow = process.times_s(100, stream(3, "arrivals"))
    np.testing.assert_allclose(faster.times_s(100, stream(3, "arrivals")), slow / 2, rtol=1e-12)


@pytest.mark.parametrize(
    "process",
    [Poisson(requests_per_s=2.0), Gamma(requests_per_s=2.0, cv=2), Constant(requests_per_s=2.0)],
)
def test_the_first_arrivals_do_not_depend_on_how_many_follow(
    process: Poisson | Gamma | Constant,
) -> None:
    few = process.times_s(1000, stream(0, "arrivals"))
    many = process.times_s(5000, stream(0, "arrivals"))
    assert np.array_equal(few, many[:1000])
    assert np.all(np.diff(many) >= 0)

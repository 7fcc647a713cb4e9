"""Intervals against processes of known mean: 90 % has to mean nine times in ten."""

import numpy as np
import pytest

from sim.metrics.intervals import mean_interval, rate_interval
from sim.metrics.percentiles import percentile_interval
from sim.records import FloatArray

pytestmark = pytest.mark.truth

BINOMIAL_SIGMAS = 3


def autoregressive_series(count: int, correlation: float, seed: int) -> FloatArray:
    """Mean 0, each value that share of the one before plus noise, started in its own law."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=count)
    noise[0] /= np.sqrt(1 - correlation**2)
    # As a moving average, cut off where the weights have died out.
    weights = correlation ** np.arange(200)
    return np.convolve(noise, weights)[:count]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_intervals_of_the_mean_hold_the_truth_nine_times_in_ten(correlation: float) -> None:
    replications = 200
    held = 0
    for seed in range(replications):
        low, high = mean_interval(autoregressive_series(5000, correlation, seed)) or (1, -1)
        held += low <= 0 <= high
    slack = BINOMIAL_SIGMAS * np.sqrt(0.9 * 0.1 / replications)
    assert abs(held / replications - 0.9) < slack


@pytest.mark.parametrize("shape", [0.5, 5.0])
def test_intervals_of_a_rate_hold_the_truth_nine_times_in_ten(shape: float) -> None:
    """Slices of a lumpy flow: gamma, with a spread of 1.4 and 0.45 of their mean 1."""
    replications, held = 400, 0
    for seed in range(replications):
        slices = np.random.default_rng(seed).gamma(shape, 1 / shape, 25)
        low, high = rate_interval(slices) or (1, -1)
        held += low <= 1 <= high
    slack = BINOMIAL_SIGMAS * np.sqrt(0.9 * 0.1 / replications)
    assert abs(held / replications - 0.9) < slack


def test_intervals_that_ignore_the_correlation_would_have_failed() -> None:
    held = 0
    for seed in range(200):
        values = autoregressive_series(5000, 0.9, seed)
        held += abs(values.mean()) < 1.645 * values.std() / np.sqrt(len(values))
    assert held / 200 < 0.6


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_intervals_of_the_99th_percentile_hold_the_truth_nine_times_in_ten(
    correlation: float,
) -> None:
    truth = 2.3263 / np.sqrt(1 - correlation**2)
    replications = 200
    held = 0
    for seed in range(replications):
        values = autoregressive_series(10_000, correlation, seed)
        low, high = percentile_interval(values, np.argsort(values), 0.99, seed) or (1, -1)
        held += low <= truth <= high
    slack = BINOMIAL_SIGMAS * np.sqrt(0.9 * 0.1 / replications)
    assert abs(held / replications - 0.9) < slack

"""Length distributions against theory; tolerances are four standard errors."""

from math import exp, log, sqrt

import numpy as np
import pytest
from pydantic import ValidationError

from sim.records import FloatArray, IntArray
from sim.workload import Fixed, LogNormal, Quantiles, Uniform, stream
from sim.workload.normal import normal_cdfs, normal_scores
from sim.workload.streams import open_uniforms

COUNT = 100_000


def uniforms() -> FloatArray:
    return open_uniforms(stream(0, "input_tokens"), COUNT)


def draw(kind: Fixed | Uniform | LogNormal | Quantiles) -> IntArray:
    return kind.draw(uniforms(), "input_tokens")


def within_four_standard_errors(sample: IntArray, mean: float) -> bool:
    return bool(abs(sample.mean() - mean) < 4 * sample.std() / sqrt(len(sample)))


def test_uniforms_lie_strictly_between_0_and_1_and_have_a_variance_of_a_twelfth() -> None:
    u = uniforms()
    assert 0 < u.min() < u.max() < 1
    assert abs(u.var() - 1 / 12) < 4 * sqrt(1 / 180 / COUNT)  # Var(s²) = (1/80 - 1/144)/n


def test_normal_scores_are_those_of_the_tables_and_undo_the_distribution_function() -> None:
    scores = normal_scores(np.array([0.025, 0.5, 0.95, 0.975]))
    np.testing.assert_allclose(scores, [-1.959964, 0.0, 1.644854, 1.959964], atol=5e-7)
    u = np.array([1e-12, 0.01, 0.3, 0.99])
    np.testing.assert_allclose(normal_cdfs(normal_scores(u)), u, rtol=1e-9)


def test_a_fixed_length_is_the_same_for_all() -> None:
    assert set(draw(Fixed(tokens=7)).tolist()) == {7}


@pytest.mark.truth
def test_uniform_lengths_hit_both_ends_and_every_length_as_often() -> None:
    sample = draw(Uniform(low=3, high=12))
    counts = np.bincount(sample)[3:]
    assert sample.min() == 3
    assert len(counts) == 10
    assert np.all(abs(counts / COUNT - 0.1) < 5 * sqrt(0.1 * 0.9 / COUNT))
    assert within_four_standard_errors(sample, 7.5)
    assert Uniform(low=3, high=12).mean_tokens("input_tokens") == 7.5


@pytest.mark.truth
def test_a_lognormal_of_mean_and_cv_has_that_mean_and_cv() -> None:
    sample = draw(LogNormal(mean=1000, cv=0.8))
    assert within_four_standard_errors(sample, 1000)
    # bounded by hand: the standard error of the CV of this lognormal is below 0.006
    assert abs(sample.std() / sample.mean() - 0.8) < 0.024


@pytest.mark.truth
def test_a_lognormal_of_median_and_sigma_has_its_quantiles_there() -> None:
    sample = draw(LogNormal(median=500, sigma=0.5))
    for p, z in [(0.5, 0.0), (0.1, -1.281552), (0.99, 2.326348)]:
        theory = 500 * exp(0.5 * z)
        density = exp(-z * z / 2) / sqrt(2 * np.pi) / (0.5 * theory)
        standard_error = sqrt(p * (1 - p) / COUNT) / density
        assert abs(np.quantile(sample, p) - theory) < 4 * standard_error + 0.5


@pytest.mark.truth
def test_a_cut_lognormal_stays_below_the_cut_and_has_the_mean_that_it_states() -> None:
    kind = LogNormal(median=500, sigma=1.0, max=1000)
    sample = draw(kind)
    assert sample.max() == 1000
    # the share at the cut is P(Z > ln 2) = 0.24414 for sigma 1
    assert abs((sample == 1000).mean() - 0.24414) < 0.006
    assert within_four_standard_errors(sample, kind.mean_tokens("input_tokens"))


def test_lengths_are_at_least_one_token() -> None:
    assert draw(LogNormal(median=1, sigma=2.0)).min() == 1


@pytest.mark.truth
def test_quantiles_come_back_out_of_the_sample() -> None:
    table = {0.0: 10.0, 0.5: 100.0, 0.9: 1000.0, 1.0: 4000.0}
    kind = Quantiles(quantiles=table)
    sample = draw(kind)
    assert 10 <= sample.min() <= sample.max() <= 4000
    for tokens, p in [(100, 0.5), (1000, 0.9), (55, 0.25), (550, 0.7), (2500, 0.95)]:
        share = (sample <= tokens).mean()
        assert (
            abs(share - p) < 4 * sqrt(p * (1 - p) / COUNT) + 0.01 / 2
        )  # half a token of rounding
    # trapezoids by hand: .5 * 55 + .4 * 550 + .1 * 2500
    assert kind.mean_tokens("input_tokens") == pytest.approx(497.5)
    assert within_four_standard_errors(sample, 497.5)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({0.5: 100.0, 1.0: 200.0}, "needs the quantiles at 0 and 1"),
        ({0.0: 100.0, 1.0: 50.0}, "has quantiles that fall: 100 tokens at 0, 50 at 1"),
        ({0.0: 0.0, 1.0: 50.0}, "greater than or equal to 1"),
        ({0.0: 1.0, 1.5: 50.0}, "less than or equal to 1"),
    ],
)
def test_a_wrong_table_of_quantiles_is_refused(table: dict[float, float], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Quantiles(quantiles=table)


def test_a_lognormal_needs_one_pair_of_parameters() -> None:
    with pytest.raises(ValidationError, match="needs `mean` and `cv`, or `median` and `sigma`"):
        LogNormal(mean=100, sigma=1.0)
    assert LogNormal(mean=100, cv=1.0).mean_tokens("input_tokens") == pytest.approx(100)
    assert LogNormal(median=100, sigma=sqrt(2 * log(2))).mean_tokens(
        "input_tokens"
    ) == pytest.approx(200)


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs `low` <= `high`, found 9 and 3"):
        Uniform(low=9, high=3)

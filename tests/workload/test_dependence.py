"""Joint lengths: both margins stay uniform, and the dependence is the one that was asked for."""

from math import sqrt

import numpy as np
import pytest

from sim.records import FloatArray
from sim.workload import stream
from sim.workload.dependence import by_rank_correlation, by_rank_table
from sim.workload.streams import open_uniforms

COUNT = 100_000


def pair() -> tuple[FloatArray, FloatArray]:
    u = open_uniforms(stream(5, "input_tokens"), COUNT)
    return u, open_uniforms(stream(5, "output_tokens"), COUNT)


def is_uniform(u: FloatArray) -> bool:
    """Kolmogorov-Smirnov at a level of 1e-4: sqrt(-ln(alpha/2)/2) = 2.23."""
    gap = np.abs(np.sort(u) - (np.arange(len(u)) + 0.5) / len(u)).max()
    return bool(gap * sqrt(len(u)) < 2.23)


@pytest.mark.truth
@pytest.mark.parametrize("spearman", [-0.9, -0.3, 0.0, 0.5, 1.0])
def test_the_rank_correlation_is_the_one_asked_for(spearman: float) -> None:
    u, v = pair()
    tied = by_rank_correlation(u, v, spearman)
    # on uniforms Pearson's correlation is Spearman's; its standard error is at most 1/sqrt(n)
    assert abs(np.corrcoef(u, tied)[0, 1] - spearman) < 4 / sqrt(COUNT)
    assert is_uniform(tied)


@pytest.mark.truth
def test_a_rank_table_fills_its_cells_and_keeps_the_output_uniform() -> None:
    shares = np.array([[0.2, 0.8, 0.0], [0.3, 0.2, 0.5], [0.5, 0.0, 0.5]])
    u, v = pair()
    tied = by_rank_table(u, v, shares)
    cells = np.histogram2d(u, tied, bins=3, range=[[0, 1], [0, 1]])[0] / COUNT
    assert np.all(np.abs(cells - shares / 3) < 4 * np.sqrt(shares / 3 / COUNT) + 1e-12)
    assert is_uniform(tied)


def test_without_dependence_the_table_leaves_the_output_alone() -> None:
    u, v = pair()
    np.testing.assert_allclose(by_rank_table(u, v, np.full((4, 4), 0.25)), v, atol=1e-12)
